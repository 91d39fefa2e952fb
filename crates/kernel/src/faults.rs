//! All that is wrong with one request, told together.

use crate::{Code, Fault, Result, Violation};

/// Faults that one answer tells of; who has more mends these first.
const MOST_TOLD: usize = 100;

/// What is wrong with one request or definition so far.
#[derive(Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The value of what is right; what is wrong is kept.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|it| self.add(it)).ok()
    }

    /// Both values, or all that is wrong with either.
    pub fn both<A, B>(first: Result<A>, second: Result<B>) -> Result<(A, B)> {
        match (first, second) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(first), Err(second)) => Err(Self(vec![first, second]).told()),
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
        }
    }

    pub fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Whether nothing was wrong so far.
    pub fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether more would not be told, so that nothing needs to look for it.
    pub fn is_full(&self) -> bool {
        self.0.len() >= MOST_TOLD
    }

    /// # Errors
    /// All that was kept, as one fault with the code and the data of the first: a violation with its path for each.
    pub fn refuse(mut self) -> Result<()> {
        match self.0.len() {
            0 | 1 => self.0.pop().map_or(Ok(()), Err),
            _ => Err(self.told()),
        }
    }

    /// Several as one.
    fn told(self) -> Fault {
        if self.0.iter().all(|it| it.code() == Code::Validation) {
            // Clients know it by its own text; what is wrong is in the violations.
            return Fault::invalid(self.violations());
        }
        let more = self.0.len().saturating_sub(5);
        let sentence = |it: &Fault| format!("{}.", it.message().trim_end_matches('.'));
        let mut texts: Vec<_> = self.0.iter().take(5).map(sentence).collect();
        if more > 0 {
            texts.push(format!("And {more} more."));
        }
        let first = &self.0[0];
        let told = Fault::because(first.code(), texts.join(" ")).violating(self.violations());
        // A code comes with its data, whatever else is wrong.
        first.data().iter().fold(told, |told, (name, value)| told.with(name, value.clone()))
    }

    fn violations(&self) -> Vec<Violation> {
        self.0.iter().flat_map(|it| it.violations().to_vec()).take(MOST_TOLD).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        Fault::because(Code::BadRequest, text).violating(vec![Violation::new(text, "FORMAT", text)])
    }

    #[test]
    fn faults_are_told_together_with_the_code_of_the_first() {
        assert!(Faults::default().refuse().is_ok());
        let mut faults = Faults::default();
        assert_eq!(faults.take(Ok(1)), Some(1));
        assert_eq!(faults.take::<()>(Err(fault("a"))), None);
        faults.add(Fault::because(Code::NotNumber, "b."));
        let told = faults.refuse().expect_err("refused");
        assert_eq!((told.code(), told.message()), (Code::BadRequest, "a. b."));
        assert_eq!(told.violations().len(), 1);
    }

    #[test]
    fn faults_are_told_with_the_data_of_the_first() {
        let mut faults = Faults::default();
        faults.add(fault("a").with("threshold", 5));
        faults.add(fault("b").with("threshold", 6).with("other", 7));
        let told = faults.refuse().expect_err("refused");
        assert_eq!(serde_json::Value::from(told.data().clone()), serde_json::json!({ "threshold": 5 }));
    }

    #[test]
    fn violations_are_told_together() {
        let invalid = |field: &str| Fault::invalid(vec![Violation::new(field, "FORMAT", "x")]);
        let mut faults = Faults::default();
        faults.add(invalid("a"));
        faults.add(invalid("b"));
        let told = faults.refuse().expect_err("refused");
        assert_eq!((told.code(), told.message()), (Code::Validation, Code::Validation.sentence()));
        assert_eq!(told.violations().iter().map(|it| it.field.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn faults_without_end_are_told_in_part() {
        let mut faults = Faults::default();
        (0..150).for_each(|n| faults.add(fault(&n.to_string())));
        assert!(faults.is_full());
        let told = faults.refuse().expect_err("refused");
        assert!(told.message().ends_with("And 145 more."), "{told}");
        assert_eq!(told.violations().len(), 100);
    }
}
