//! A Dockerfile, as far as ours goes.

/// One instruction: `COPY --from=build /a /b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its name in capital letters.
    pub name: String,
    /// The rest of it, in one line.
    pub arguments: String,
}

/// The stages of a Dockerfile, each from its `FROM` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dockerfile {
    stages: Vec<Vec<Instruction>>,
}

impl Dockerfile {
    /// Reads it. What stands before the first `FROM` is left out.
    pub fn read(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        let mut stages: Vec<Vec<Instruction>> = Vec::new();
        for line in joined.lines() {
            let Some((name, rest)) = line.trim().split_once(char::is_whitespace) else { continue };
            let arguments = rest.split_whitespace().collect::<Vec<_>>().join(" ");
            let instruction = Instruction { name: name.to_uppercase(), arguments };
            if instruction.name == "FROM" {
                stages.push(Vec::new());
            }
            if let Some(stage) = stages.last_mut() {
                stage.push(instruction);
            }
        }
        Self { stages }
    }

    /// What the instructions of this name say in the stage that builds.
    pub fn build(&self, name: &str) -> Vec<&str> {
        Self::of(self.stages.first(), name)
    }

    /// What the instructions of this name say in the stage that is the image.
    pub fn image(&self, name: &str) -> Vec<&str> {
        Self::of(self.stages.last(), name)
    }

    fn of<'a>(stage: Option<&'a Vec<Instruction>>, name: &str) -> Vec<&'a str> {
        let instructions = stage.into_iter().flatten().filter(|instruction| instruction.name == name);
        instructions.map(|instruction| instruction.arguments.as_str()).collect()
    }
}
