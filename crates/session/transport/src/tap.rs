//! Copies the RTCP that a browser sends, as str0m decrypts it.
//!
//! str0m keeps transport-wide feedback to itself, or hands it out parsed at the price of a copy of
//! every packet sent. This module wraps str0m's cryptography: what is decrypted while a datagram of
//! RTCP is taken in is copied, for [`mimosa_rtp`] to parse. The decryption itself is str0m's.

use std::cell::RefCell;
use std::sync::OnceLock;

use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider,
    SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
    from_feature_flags,
};

thread_local! {
    /// What was decrypted while a datagram was taken in; `None` at other times.
    static TAP: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

static LIBRARY: OnceLock<CryptoProvider> = OnceLock::new();

pub(crate) fn library() -> &'static CryptoProvider {
    LIBRARY.get_or_init(from_feature_flags)
}

/// str0m's cryptography with the tap in it.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        srtp_provider: &Tapped,
        ..library().clone()
    }
}

/// Runs `take_in`. Returns its result, and what was decrypted meanwhile.
pub(crate) fn listen<T>(take_in: impl FnOnce() -> T) -> (T, Vec<u8>) {
    TAP.with(|tap| *tap.borrow_mut() = Some(Vec::new()));
    let result = take_in();
    let heard = TAP.with(|tap| tap.borrow_mut().take());
    (result, heard.unwrap_or_default())
}

fn hear(plain: &[u8]) {
    TAP.with(|tap| {
        if let Some(heard) = tap.borrow_mut().as_mut() {
            heard.extend_from_slice(plain);
        }
    });
}

#[derive(Debug)]
struct Tapped;

impl SrtpProvider for Tapped {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Tapped
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Tapped
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Tapped
    }

    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        library()
            .srtp_provider
            .srtp_aes_128_ecb_round(key, input, output);
    }

    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        library()
            .srtp_provider
            .srtp_aes_256_ecb_round(key, input, output);
    }
}

impl SupportedAes128CmSha1_80 for Tapped {
    fn create_cipher(&self, key: [u8; 16], encrypt: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        let ciphers = library().srtp_provider.aes_128_cm_sha1_80();
        Box::new(Counter(ciphers.create_cipher(key, encrypt)))
    }
}

impl SupportedAeadAes128Gcm for Tapped {
    fn create_cipher(&self, key: [u8; 16], encrypt: bool) -> Box<dyn AeadAes128GcmCipher> {
        let ciphers = library().srtp_provider.aead_aes_128_gcm();
        Box::new(Galois128(ciphers.create_cipher(key, encrypt)))
    }
}

impl SupportedAeadAes256Gcm for Tapped {
    fn create_cipher(&self, key: [u8; 32], encrypt: bool) -> Box<dyn AeadAes256GcmCipher> {
        let ciphers = library().srtp_provider.aead_aes_256_gcm();
        Box::new(Galois256(ciphers.create_cipher(key, encrypt)))
    }
}

#[derive(Debug)]
struct Counter(Box<dyn Aes128CmSha1_80Cipher>);

impl Aes128CmSha1_80Cipher for Counter {
    fn encrypt(
        &mut self,
        iv: &[u8; 16],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.0.encrypt(iv, input, output)
    }

    fn decrypt(
        &mut self,
        iv: &[u8; 16],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.0.decrypt(iv, input, output)?;
        hear(&output[..input.len().min(output.len())]);
        Ok(())
    }
}

#[derive(Debug)]
struct Galois128(Box<dyn AeadAes128GcmCipher>);

impl AeadAes128GcmCipher for Galois128 {
    fn encrypt(
        &mut self,
        iv: &[u8; 12],
        header: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.0.encrypt(iv, header, input, output)
    }

    fn decrypt(
        &mut self,
        iv: &[u8; 12],
        headers: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let length = self.0.decrypt(iv, headers, input, output)?;
        hear(&output[..length]);
        Ok(length)
    }
}

#[derive(Debug)]
struct Galois256(Box<dyn AeadAes256GcmCipher>);

impl AeadAes256GcmCipher for Galois256 {
    fn encrypt(
        &mut self,
        iv: &[u8; 12],
        header: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.0.encrypt(iv, header, input, output)
    }

    fn decrypt(
        &mut self,
        iv: &[u8; 12],
        headers: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let length = self.0.decrypt(iv, headers, input, output)?;
        hear(&output[..length]);
        Ok(length)
    }
}
