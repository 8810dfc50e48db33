//! Certificates and keys of one test bed. They are made anew for every start and mean nothing anywhere else.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

/// A certificate with its private key, as PEM files.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    /// The certificate.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The certificate authority of a test bed. Its own key is never written to disk.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: PathBuf,
}

impl Authority {
    /// Makes an authority whose files go to `directory`, which must exist.
    pub fn create(directory: &Path) -> anyhow::Result<Self> {
        let subject = "quotient-testbed-ca";
        let mut params = CertificateParams::default();
        params.distinguished_name = name(subject, None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let authority = Self { issuer, directory: directory.to_owned() };
        write(&authority.certificate(), &authority.issuer.pem())?;
        Ok(authority)
    }

    /// The authority's certificate, as a PEM file.
    pub fn certificate(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// The authority's certificate in DER.
    pub fn certificate_der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// A certificate for servers that answer under `names` (host names and addresses).
    pub fn server(&self, names: &[&str]) -> anyhow::Result<CertificateFiles> {
        let subject = "quotient-testbed-server";
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let params = CertificateParams::new(names)?;
        self.issue(params, subject, None, ExtendedKeyUsagePurpose::ServerAuth, "server")
    }

    /// A certificate that makes its bearer the Kubernetes user `user`, in `group` if one is given.
    pub fn client(&self, user: &str, group: Option<&str>) -> anyhow::Result<CertificateFiles> {
        let file = format!("user-{}", file_name(user));
        self.issue(CertificateParams::default(), user, group, ExtendedKeyUsagePurpose::ClientAuth, &file)
    }

    /// The key pair that signs the tokens of service accounts: (private, public).
    pub fn service_account_keys(&self) -> anyhow::Result<(PathBuf, PathBuf)> {
        let key = KeyPair::generate()?;
        let (private, public) = (self.directory.join("sa.key"), self.directory.join("sa.pub"));
        write(&private, &key.serialize_pem())?;
        write(&public, &key.public_key_pem())?;
        Ok((private, public))
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        subject: &str,
        group: Option<&str>,
        usage: ExtendedKeyUsagePurpose,
        file: &str,
    ) -> anyhow::Result<CertificateFiles> {
        params.distinguished_name = name(subject, group);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer);
        let certificate = certificate.with_context(|| format!("making the certificate of {subject}"))?;
        let files = CertificateFiles {
            certificate: self.directory.join(format!("{file}.pem")),
            key: self.directory.join(format!("{file}.key")),
        };
        write(&files.certificate, &certificate.pem())?;
        write(&files.key, &key.serialize_pem())?;
        Ok(files)
    }
}

/// Kubernetes reads the user from the common name and the group from the organization.
fn name(user: &str, group: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(group) = group {
        name.push(DnType::OrganizationName, group);
    }
    name.push(DnType::CommonName, user);
    name
}

/// A file name for a user: names like `system:admin` or `https://issuer#user` become harmless.
pub(super) fn file_name(user: &str) -> String {
    user.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .collect()
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("writing {}", path.display()))
}
