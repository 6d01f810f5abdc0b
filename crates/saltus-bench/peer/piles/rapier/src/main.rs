//! A pile in Rapier, with its defaults but for the step and the iterations (first argument, 4 if none).
//! The scene comes in and the answer goes out as `../piles_common.py` says.

use rapier3d_f64::prelude::*;
use serde_json::{Value, json};

fn vector(value: &Value) -> Vector {
    let at = |k: usize| value[k].as_f64().unwrap_or(0.0);
    Vector::new(at(0), at(1), at(2))
}

fn main() {
    let scene: Value = serde_json::from_reader(std::io::stdin()).expect("a scene");
    let iterations = std::env::args().nth(1).map_or(4, |text| text.parse().expect("a number"));
    let h = scene["h"].as_f64().expect("h");
    let mu = scene["mu"].as_f64().expect("mu");
    let steps = scene["steps"].as_u64().expect("steps");
    let patience = scene["patience"].as_f64().expect("patience");
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters.dt = h;
    world.integration_parameters.num_solver_iterations = iterations;
    let (lx, ly) = (scene["bin"][0].as_f64().expect("bin"), scene["bin"][1].as_f64().expect("bin"));
    let planes = [
        (Vector::ZERO, Vector::Z),
        (Vector::ZERO, Vector::X),
        (Vector::new(lx, 0.0, 0.0), -Vector::X),
        (Vector::ZERO, Vector::Y),
        (Vector::new(0.0, ly, 0.0), -Vector::Y),
    ];
    for (point, normal) in planes {
        let fixed = RigidBodyBuilder::fixed().translation(point);
        world.insert(fixed, ColliderBuilder::new(SharedShape::halfspace(normal)).friction(mu).restitution(0.0));
    }
    let mut handles = Vec::new();
    for body in scene["bodies"].as_array().expect("bodies") {
        let size = body["size"].as_f64().expect("size");
        let shape = match body["kind"].as_str() {
            Some("sphere") => ColliderBuilder::ball(size),
            _ => ColliderBuilder::cuboid(0.5 * size, 0.5 * size, 0.5 * size),
        };
        let turn = &body["orientation"];
        let at = |k: usize| turn[k].as_f64().unwrap_or(0.0);
        let pose = Pose::from_parts(vector(&body["position"]), Rotation::from_xyzw(at(1), at(2), at(3), at(0)));
        let dynamic = RigidBodyBuilder::dynamic().pose(pose).can_sleep(false);
        let (handle, _) = world.insert(dynamic, shape.density(1000.0).friction(mu).restitution(0.0));
        handles.push(handle);
    }
    let begin = cpu_time::ProcessTime::now();
    let mut done = 0;
    while done < steps && begin.elapsed().as_secs_f64() < patience {
        world.step();
        done += 1;
    }
    let seconds = begin.elapsed().as_secs_f64() / done as f64;

    let poses: Vec<[f64; 7]> = handles
        .iter()
        .map(|handle| {
            let pose = world.bodies[*handle].position();
            let (x, r) = (pose.translation, pose.rotation);
            [x.x, x.y, x.z, r.w, r.x, r.y, r.z]
        })
        .collect();
    let (mut reactions, mut velocities) = (Vec::new(), Vec::new());
    for pair in world.narrow_phase.contact_pairs() {
        for manifold in pair.manifolds() {
            let normal = manifold.data.normal;
            let [t1, t2] = { let t = normal.any_orthonormal_vector(); [t, normal.cross(t)] };
            let collider = |handle| &world.colliders[handle];
            for point in &manifold.points {
                let place = *collider(pair.collider1).position() * point.local_p1;
                let speed = |handle| {
                    let parent = collider(handle).parent();
                    parent.map_or(Vector::ZERO, |body| world.bodies[body].velocity_at_point(place))
                };
                let c = speed(pair.collider2) - speed(pair.collider1);
                let r = -point.data.warmstart_tangent_world;
                reactions.push([point.data.impulse, t1.dot(r), t2.dot(r)]);
                velocities.push([normal.dot(c) + point.dist.max(0.0) / h, t1.dot(c), t2.dot(c)]);
            }
        }
    }
    println!("{}", json!({
        "steps": done, "seconds": seconds, "poses": poses, "reactions": reactions, "velocities": velocities
    }));
}
