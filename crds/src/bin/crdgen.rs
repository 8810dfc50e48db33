//! Writes the custom resource definitions into `crds/yaml`, and into the chart, which cannot reach outside itself.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    for folder in quotient_crds::MANIFEST_FOLDERS {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::fs::create_dir_all(&directory)?;
        for manifest in quotient_crds::manifests()? {
            let path = directory.join(&manifest.file_name);
            std::fs::write(&path, &manifest.text)
                .map_err(|error| format!("write {}: {error}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}
