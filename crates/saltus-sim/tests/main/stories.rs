//! Stories that users of other tools tell.
