//! Scenes without contacts: a finder that finds nothing, so that their joints are solved as those of
//! other scenes are.

use saltus_model::{
    Body, ContactFinder, ContactSearch, FoundContact, Law, Model, ModelError, Moment,
    OperatorError, Side,
};

/// Nothing touches anything.
#[derive(Debug)]
pub(crate) struct Untouched {
    pub space: Body,
}

#[derive(Debug)]
struct Nothing;

impl ContactFinder for Untouched {
    fn space(&self) -> Body {
        self.space
    }

    fn sides(&self) -> &[Side] {
        &[]
    }

    fn laws(&self) -> &[Law] {
        &[]
    }

    fn check(&self, _: &Model) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&self, _: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch> {
        Box::new(Nothing)
    }
}

impl ContactSearch for Nothing {
    fn find(&mut self, _: Moment<'_>, _: &mut Vec<FoundContact>) -> Result<(), OperatorError> {
        Ok(())
    }
}
