//! Options of algorithms: numbers by name.

use std::collections::HashMap;
use std::fmt;

/// An option that is missing, or not what it has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption {
    name: String,
    expected: String,
}

impl BadOption {
    /// Of this name, with what would be right.
    #[must_use]
    pub fn new(name: &str, expected: &str) -> Self {
        Self {
            name: name.to_owned(),
            expected: expected.to_owned(),
        }
    }
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "algorithm.{}: expected {}", self.name, self.expected)
    }
}

impl std::error::Error for BadOption {}

/// What is told of an algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(HashMap<String, f64>);

impl From<HashMap<String, f64>> for Options {
    fn from(options: HashMap<String, f64>) -> Self {
        Self(options)
    }
}

impl Options {
    /// A number of this range.
    pub fn number(&self, name: &str, least: f64, most: f64) -> Result<f64, BadOption> {
        match self.0.get(name) {
            Some(&value) if (least..=most).contains(&value) => Ok(value),
            _ => {
                let expected = format!("a number from {least} to {most}");
                Err(BadOption::new(name, &expected))
            }
        }
    }

    /// A time, at least 0, or infinite.
    pub fn milliseconds(&self, name: &str) -> Result<f64, BadOption> {
        self.number(name, 0.0, f64::INFINITY)
    }

    /// A whole number of this range.
    pub fn whole(&self, name: &str, least: u32, most: u32) -> Result<u32, BadOption> {
        let value = self.number(name, f64::from(least), f64::from(most))?;
        match value.fract() {
            0.0 => Ok(value as u32),
            _ => Err(BadOption::new(name, "a whole number")),
        }
    }

    /// 0 or 1.
    pub fn flag(&self, name: &str) -> Result<bool, BadOption> {
        Ok(self.whole(name, 0, 1)? == 1)
    }
}
