"""all-MiniLM-L6-v2 out of baracuda plans: `model` is the encoder, `files` its weights and tokens, `encoder` embeds many
sentences, `train` trains it."""
