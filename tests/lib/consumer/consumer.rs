// The C ABI from Rust, by declarations as bindgen writes them.
use std::ffi::{c_char, CStr};

#[link(name = "kvwitness")]
unsafe extern "C" {
    fn kvw_apply(
        learned: *const i32,
        learned_len: i64,
        topk: i64,
        context_lens: *const i32,
        rows: i64,
        learned_keep: i64,
        num_segments: i64,
        max_replacements: i64,
        out: *mut i32,
    ) -> i32;
    fn kvw_last_error() -> *const c_char;
}

fn apply(learned: &[i32], topk: i64, context_lens: &[i32], out: &mut [i32]) -> Result<(), String> {
    let rows = context_lens.len() as i64;
    let status = unsafe {
        kvw_apply(learned.as_ptr(), learned.len() as i64, topk, context_lens.as_ptr(), rows, 2, 4, 2, out.as_mut_ptr())
    };
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(kvw_last_error()) }.to_string_lossy().into_owned()),
    }
}

fn main() {
    // Over 16 tokens in 4 segments the row misses the last one, whose witness is 12.
    let mut merged = [0; 4];
    apply(&[0, 5, 9, -1], 4, &[16], &mut merged).unwrap();
    assert_eq!(merged, [0, 5, 12, -1]);
    let refused = apply(&[0, 5, 9], 4, &[16], &mut merged).unwrap_err();
    assert!(refused.contains("learned_len"), "{refused}");
}
