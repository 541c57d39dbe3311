/// The interface of this binding; .ci/shared.mjs makes it of what both languages have.
pub const ABI: u32 = 232050239;
