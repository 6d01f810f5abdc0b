//! The examples, as they are in the folder `examples/`, within the program.

/// A bundled example.
pub struct Example {
    /// Name of its folder.
    pub name: &'static str,
    /// Its files, with their contents.
    pub files: &'static [(&'static str, &'static str)],
}

impl Example {
    /// The first heading of its README.
    pub fn title(&self) -> &'static str {
        let readme = self.files.iter().find(|(file, _)| *file == "README.md");
        let heading = readme.and_then(|(_, text)| text.lines().next());
        heading.map_or("", |line| line.trim_start_matches('#').trim())
    }
}

macro_rules! example {
    ($name:literal: $($file:literal),+) => {
        Example {
            name: $name,
            files: &[$(
                ($file, include_str!(concat!("../../../examples/", $name, "/", $file)))
            ),+],
        }
    };
}

/// All bundled examples, in the order of their names.
pub const EXAMPLES: &[Example] = &[
    example!("boost-converter": "README.md", "boost.cir"),
    example!("bouncing-ball": "README.md", "model.toml", "events.toml"),
    example!("buck-converter": "README.md", "model.toml", "buck.cir", "sliding.cir"),
    example!("cam-follower": "README.md", "model.toml"),
    example!("chain": "README.md", "scene.toml"),
    example!("charge-pump": "README.md", "pump.cir"),
    example!("chua": "README.md", "chua.cir"),
    example!("cohesive-bar": "README.md", "model.toml"),
    example!("colpitts": "README.md", "colpitts.cir"),
    example!("column-of-beads": "README.md", "model.toml"),
    example!("cube-on-slope": "README.md", "scene.toml"),
    example!("delta-sigma": "README.md", "model.toml", "first.toml", "modulator.cir"),
    example!("diode-bridge": "README.md", "model.toml", "bridge.cir", "filter.cir"),
    example!("domino-row": "README.md", "scene.toml"),
    example!("dzhanibekov": "README.md", "scene.toml"),
    example!("falling-arm": "README.md", "model.toml"),
    example!("filippov-square-spiral": "README.md", "model.toml", "events.toml"),
    example!("flip-flop": "README.md", "flip-flop.cir"),
    example!("fluid-queues": "README.md", "model.toml", "priorities.toml"),
    example!("four-bar": "README.md", "model.toml", "scene.toml", "clearance.toml"),
    example!("friction-oscillator": "README.md", "model.toml", "belt.toml"),
    example!("full-bridge": "README.md", "bridge.cir"),
    example!("gene-network": "README.md", "model.toml", "repressilator.toml"),
    example!("granular-chute": "README.md", "scene.toml"),
    example!("granular-column": "README.md", "scene.toml", "springs.toml"),
    example!("gripper": "README.md", "scene.toml"),
    example!("guitar-string": "README.md", "model.toml", "obstacle.toml"),
    example!("hopper": "README.md", "scene.toml"),
    example!("impacting-bar": "README.md", "model.toml"),
    example!("inverter-chain": "README.md", "model.toml", "ring.toml", "chain.cir"),
    example!("kapla-tower": "README.md", "scene.toml"),
    example!("latch": "README.md", "scene.toml"),
    example!("llc-converter": "README.md", "llc.cir"),
    example!("lzc-circuit": "README.md", "model.toml"),
    example!("masonry-arch": "README.md", "scene.toml"),
    example!("masonry-wall": "README.md", "scene.toml"),
    example!("modular-multilevel-arm": "README.md", "arm.cir"),
    example!("newtons-cradle": "README.md", "model.toml"),
    example!("optimal-control": "README.md", "model.toml", "fuel.toml"),
    example!("power-converter": "README.md", "model.toml", "converter.cir"),
    example!("rc-diode-ladder": "README.md", "model.toml"),
    example!("relay-oscillator": "README.md", "model.toml"),
    example!("rlc-half-wave-rectifier": "README.md", "model.toml"),
    example!("rock-fall": "README.md", "scene.toml"),
    example!("rocking-block": "README.md", "model.toml"),
    example!("rolling-sphere": "README.md", "scene.toml"),
    example!("rover-wheel": "README.md", "scene.toml", "soft.toml"),
    example!("slider-crank": "README.md", "model.toml", "friction.toml", "scene.toml"),
    example!("sliding-mode": "README.md", "model.toml", "sgn.toml"),
    example!("spinning-top": "README.md", "model.toml"),
    example!("stick-slip-belt": "README.md", "model.toml"),
    example!("swing-door": "README.md", "model.toml"),
    example!("three-phase-rectifier": "README.md", "rectifier.cir"),
    example!("tilted-stack": "README.md", "model.toml"),
    example!("tippe-top": "README.md", "scene.toml"),
    example!("two-fuses": "README.md", "model.toml"),
    example!("two-link-arm": "README.md", "model.toml"),
    example!("vibrating-table": "README.md", "scene.toml"),
    example!("walking-toy": "README.md", "scene.toml"),
    example!("woodpecker": "README.md", "model.toml", "bodies.toml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_examples_is_bundled() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let bundled: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        assert_eq!(names, bundled);
        assert!(EXAMPLES.iter().all(|example| !example.title().is_empty()));
    }
}
