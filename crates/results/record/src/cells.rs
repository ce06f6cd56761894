//! Reads the values of one row, and checks them.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::read::ReadError;
use crate::values::Values;

/// A row of a row group.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    values: &'a Values,
    row: usize,
}

impl<'a> Cells<'a> {
    pub(crate) const fn new(values: &'a Values, row: usize) -> Self {
        Self { values, row }
    }

    pub(crate) const fn bad(self, column: &'static str) -> ReadError {
        ReadError::BadValue {
            column,
            row: self.row,
        }
    }

    pub(crate) fn integer(self, column: &'static str) -> Option<i64> {
        self.values.integer(column, self.row)
    }

    /// A count, if there is a value. The largest integer stands for no limit.
    pub(crate) fn maybe_count(self, column: &'static str) -> Result<Option<u64>, ReadError> {
        match self.integer(column) {
            None => Ok(None),
            Some(i64::MAX) => Ok(Some(u64::MAX)),
            Some(value) => match u64::try_from(value) {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(self.bad(column)),
            },
        }
    }

    pub(crate) fn count(self, column: &'static str) -> Result<u64, ReadError> {
        self.maybe_count(column)?.ok_or_else(|| self.bad(column))
    }

    /// A count of a smaller type, if there is a value.
    pub(crate) fn maybe_number<T: TryFrom<u64>>(
        self,
        column: &'static str,
    ) -> Result<Option<T>, ReadError> {
        match self.maybe_count(column)? {
            None => Ok(None),
            Some(count) => match T::try_from(count) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.bad(column)),
            },
        }
    }

    /// A count of a smaller type.
    pub(crate) fn whole<T: TryFrom<u64>>(self, column: &'static str) -> Result<T, ReadError> {
        self.maybe_number(column)?.ok_or_else(|| self.bad(column))
    }

    pub(crate) fn small(self, column: &'static str) -> Result<u32, ReadError> {
        self.whole(column)
    }

    pub(crate) fn number(self, column: &'static str) -> Option<f64> {
        self.values.number(column, self.row)
    }

    pub(crate) fn text(self, column: &'static str) -> Option<&'a str> {
        self.values.text(column, self.row)
    }

    pub(crate) fn flag(self, column: &'static str) -> Result<bool, ReadError> {
        self.values
            .flag(column, self.row)
            .ok_or_else(|| self.bad(column))
    }

    pub(crate) fn maybe_time(self, column: &'static str) -> Result<Option<Time>, ReadError> {
        Ok(self.maybe_count(column)?.map(Time::from_nanos))
    }

    pub(crate) fn time(self, column: &'static str) -> Result<Time, ReadError> {
        self.count(column).map(Time::from_nanos)
    }

    pub(crate) fn bytes(self, column: &'static str) -> Result<Bytes, ReadError> {
        self.count(column).map(Bytes::new)
    }

    pub(crate) fn rate(self, column: &'static str) -> Result<Rate, ReadError> {
        self.count(column).map(Rate::from_bps)
    }

    pub(crate) fn span(self, column: &'static str) -> Result<TimeDelta, ReadError> {
        let nanos = self.integer(column).ok_or_else(|| self.bad(column))?;
        Ok(TimeDelta::from_nanos(nanos))
    }
}
