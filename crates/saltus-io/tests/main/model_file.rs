use saltus_io::ModelFile;
#[test]
fn tmp() {
    for e in std::fs::read_dir("../../examples").unwrap() {
        for f in std::fs::read_dir(e.unwrap().path()).unwrap() {
            let p = f.unwrap().path();
            if p.extension().is_some_and(|x| x == "toml") {
                match ModelFile::read(&p, &[]) {
                    Ok(m) => println!("{} ok {:?} {} systems {} interactions", p.display(), m.simulation, m.model.systems().len(), m.model.interactions().len()),
                    Err(e) => println!("{}", e.report()),
                }
            }
        }
    }
}
