use super::*;

/// A tetrahedron in every format.
const POINTS: [Vector; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.5]];
const TRIANGLES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

fn stl_text() -> String {
    let mut text = "solid a tetrahedron\n".to_string();
    for triangle in TRIANGLES {
        text += "  facet normal nan 0 0\n    outer loop\n";
        for corner in triangle {
            let [x, y, z] = POINTS[corner as usize];
            text += &format!("      vertex {x:e} {y} {z}\n");
        }
        text += "    endloop\n  endfacet\n";
    }
    text + "endsolid a tetrahedron\n"
}

fn stl_bytes() -> Vec<u8> {
    let mut bytes = b"solid but in truth bytes".to_vec();
    bytes.resize(80, b' ');
    bytes.extend(4_u32.to_le_bytes());
    for triangle in TRIANGLES {
        bytes.extend([0; 12]);
        for x in triangle.iter().flat_map(|&corner| POINTS[corner as usize]) {
            bytes.extend((x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

const OBJ: &str = "# a tetrahedron
mtllib x.mtl
v 0 0 0
v 1 0 0
v 0 1 0 # and more
v 0 0 1.5
vn 0 0 1
o body
f 1 3 2
f 1/1 2/2/1 4//1
f -3 -2 \\
  -1
f 3 1 4
";

const VTK: &str = "# vtk DataFile Version 3.0
a tetrahedron
ASCII
DATASET POLYDATA
POINTS 4 double
0 0 0  1 0 0
0 1 0  0 0 1.5
POLYGONS 4 16
3 0 2 1
3 0 1 3
3 1 2 3
3 2 0 3
POINT_DATA 4
SCALARS s double
";

const VTK5: &str = "# vtk DataFile Version 5.1
a tetrahedron
ASCII
DATASET POLYDATA
POINTS 4 float
0 0 0 1 0 0 0 1 0 0 0 1.5
METADATA
INFORMATION 0

POLYGONS 5 12
OFFSETS vtktypeint64
0 3 6 9 12
CONNECTIVITY vtktypeint64
0 2 1 0 1 3 1 2 3 2 0 3
";

const VTP: &str = r#"<?xml version="1.0"?>
<!-- a <tetrahedron> -->
<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian">
 <PolyData><Piece NumberOfPoints="4" NumberOfPolys="4">
  <PointData><DataArray Name="s" format="ascii">1 2 3 4</DataArray></PointData>
  <Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
   0 0 0 1 0 0
   0 1 0 0 0 1.5
  </DataArray></Points>
  <Polys>
   <DataArray Name="connectivity" format="ascii">0 2 1 0 1 3 1 2 3 2 0 3</DataArray>
   <DataArray Name="offsets" format="ascii">3 6 9 12</DataArray>
  </Polys>
 </Piece></PolyData>
</VTKFile>
"#;

type Parse = fn(&[u8]) -> Result<Mesh, Fault>;

fn all() -> Vec<(Parse, Vec<u8>)> {
    vec![
        (stl::parse, stl_text().into_bytes()),
        (stl::parse, stl_bytes()),
        (obj::parse, OBJ.into()),
        (vtk::parse, VTK.into()),
        (vtk::parse, VTK5.into()),
        (vtp::parse, VTP.into()),
    ]
}

#[test]
fn all_formats_read_the_same_body() {
    for (k, (parse, bytes)) in all().into_iter().enumerate() {
        let mesh = parse(&bytes).unwrap();
        assert_eq!((mesh.points.len(), mesh.triangles.len()), (4, 4), "{k}");
        let weight = Shape::from(mesh).mass_properties(1.0).unwrap();
        assert!((weight.mass - 0.25).abs() < 1e-15, "{k}");
    }
}

#[test]
fn quads_and_strips_become_triangles() {
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    assert_eq!(obj::parse(quad.as_bytes()).unwrap().triangles, [[0, 1, 2], [0, 2, 3]]);
    let strip = "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n\
                 0 0 0 1 0 0 0 1 0 1 1 0\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\n";
    assert_eq!(vtk::parse(strip.as_bytes()).unwrap().triangles, [[0, 1, 2], [2, 1, 3]]);
}

#[test]
fn errors_name_the_place() {
    let says = |parse: Parse, text: &str, place: Place, expected: &str| {
        let fault = parse(text.as_bytes()).unwrap_err();
        assert_eq!(fault.place, place, "{}", fault.why);
        assert!(fault.why.contains(expected), "{}", fault.why);
    };
    says(obj::parse, "v 0 0 0\nf 1 2 3\n", Place::Line(2), "point 2 is named, but 1 points");
    says(obj::parse, "v 0 0\n", Place::Line(1), "expected a coordinate");
    says(obj::parse, "v 0 0 inf\n", Place::Line(1), "finite");
    says(obj::parse, "curv 0 1\n", Place::Line(1), "`curv` is not read");
    says(obj::parse, "v 0 0 0\n", Place::Line(1), "no triangles");
    says(stl::parse, "solid x\nfacet normal 0 0 1\nouter lop\n", Place::Line(3), "expected `loop`");
    says(stl::parse, "short", Place::Byte(5), "header");
    says(vtk::parse, &VTK.replace("ASCII", "BINARY"), Place::Line(3), "expected ASCII");
    says(vtk::parse, &VTK.replace("3 1 2 3", "3 1 2 7"), Place::Line(11), "point 7 is named");
    says(vtp::parse, &VTP.replace("12<", "13<"), Place::Line(13), "do not lie within");
    says(
        vtp::parse,
        &VTP.replace("\"ascii\">0 2", "\"appended\">0 2"),
        Place::Line(11),
        "appended",
    );
    let path = std::path::Path::new("no/such/part.step");
    assert!(read(path).unwrap_err().to_string().contains("`.step` is none of"));
    assert!(read("no/such/part.stl").unwrap_err().to_string().contains("part.stl"));
}

/// Every beginning of a file, and every file with one byte changed, is read or told off.
#[test]
fn damaged_files_do_no_harm() {
    let mut state = 1_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for (parse, bytes) in all() {
        for end in 0..bytes.len() {
            let _ = parse(&bytes[..end]);
        }
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % damaged.len();
                damaged[at] =
                    if random() % 2 == 0 { random() as u8 } else { b"0 9-/<\n"[random() % 7] };
            }
            if let Ok(mesh) = parse(&damaged) {
                let count = mesh.points.len() as u32;
                assert!(mesh.triangles.iter().flatten().all(|&corner| corner < count));
                assert!(mesh.points.iter().flatten().all(|x| x.is_finite()));
            }
        }
    }
}

/// Parts of STEP are not read, and the error says what is.
#[test]
fn step_is_refused_by_name() {
    for name in ["part.step", "part.STP"] {
        let error = read(name).expect_err("no mesh");
        assert!(matches!(&error, MeshError::Ending { found: Some(_), .. }), "{error:?}");
        let error = error.to_string();
        for words in [".stl, .obj, .vtk, .vtp", "parts of STEP are curved solids"] {
            assert!(error.contains(words), "{error}");
        }
    }
}
