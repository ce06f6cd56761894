//! When a connection begins, and how its handshake draws its timers.

use std::sync::Arc;
use std::time::Instant;

use mimosa_units::Time;
use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion,
};
use str0m::crypto::{CryptoError, CryptoProvider};

use crate::tap;

/// When an end of a connection begins.
///
/// DTLS waits for a random time before it repeats a message (RFC 6347, section 4.2.4, leaves the timer to
/// the implementation; dimpl varies it by a quarter), and draws that time itself. So that a simulation with
/// one seed is one run, that draw can be the same in each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    pub(crate) now: Time,
    is_repeatable: bool,
}

impl Start {
    /// A start at `now` after which DTLS draws its timers, the random bytes of its handshake and its nonces the
    /// same each time. Keys are random still. For simulations only.
    #[must_use]
    pub const fn repeatable(now: Time) -> Self {
        Self {
            now,
            is_repeatable: true,
        }
    }

    /// The cryptography of a connection that begins so.
    pub(crate) fn provider(self) -> Arc<CryptoProvider> {
        let provider = tap::provider();
        Arc::new(if self.is_repeatable {
            CryptoProvider {
                dtls_provider: &Repeatable,
                ..provider
            }
        } else {
            provider
        })
    }
}

impl From<Time> for Start {
    fn from(now: Time) -> Self {
        Self {
            now,
            is_repeatable: false,
        }
    }
}

/// Seed of what DTLS draws in simulations. Its value does not matter.
const SEED: u64 = 1;

/// DTLS as str0m configures it, with a seed.
#[derive(Debug)]
struct Repeatable;

impl DtlsProvider for Repeatable {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        tap::library().dtls_provider.generate_certificate()
    }

    fn new_dtls(
        &self,
        certificate: &DtlsCert,
        now: Instant,
        version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        let mut config = dimpl::Config::builder()
            .use_server_cookie(false)
            .dangerously_set_rng_seed(SEED);
        if let Some(mtu) = mtu {
            config = config.mtu(mtu);
        }
        let config = config
            .build()
            .map_err(|error| CryptoError::Other(error.to_string()))?;
        let certificate = DtlsCert {
            certificate: certificate.certificate.clone(),
            private_key: certificate.private_key.clone(),
        };
        let make = match version {
            DtlsVersion::Dtls12 => dimpl::Dtls::new_12,
            DtlsVersion::Dtls13 => dimpl::Dtls::new_13,
            _ => dimpl::Dtls::new_auto,
        };
        Ok(Box::new(Seeded(make(Arc::new(config), certificate, now))))
    }
}

#[derive(Debug)]
struct Seeded(dimpl::Dtls);

impl DtlsInstance for Seeded {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buffer: &'a mut [u8]) -> DtlsOutput<'a> {
        self.0.poll_output(buffer)
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<usize, DtlsImplError> {
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}
