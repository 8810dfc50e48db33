//! Where an object stands.

use std::fmt;

/// The place of one object in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file as the user named it, or as it was found in a directory.
    pub(crate) file: String,
    /// The number of the document, from 1, if the file has several.
    pub(crate) document: Option<usize>,
    /// The number of the item, from 0, if the document is a list.
    pub(crate) item: Option<usize>,
}

impl Place {
    pub(crate) fn file(file: &str) -> Self {
        Self { file: file.to_owned(), document: None, item: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(document) = self.document {
            write!(formatter, " (document {document})")?;
        }
        if let Some(item) = self.item {
            write!(formatter, " items[{item}]")?;
        }
        Ok(())
    }
}
