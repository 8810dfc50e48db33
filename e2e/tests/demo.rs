//! What `make demo` shows comes out as its text says.

use quotient_e2e::demo::{Demo, Narrator, play};

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_ends_with_everybody_at_his_share() -> anyhow::Result<()> {
    let Demo { stage, operator } = play(&mut Narrator::default()).await?;
    operator.stop().await?;
    Ok(stage.bed.stop().await?)
}
