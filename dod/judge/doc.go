// Package judge asks models over HTTP: the model specs anthropic:<model> (the
// Messages API) and openai:<model> (Chat Completions, of OpenAI or of any server
// that speaks it). New gives a dod.Asker; turning its reply into a verdict is
// dod.ParseVerdict's job alone.
//
// A reply counts only when the provider says that it ended of itself and in full.
// Everything else (time limit, cut connection, length limit, refusal, tool call,
// a body that is no JSON) is an error, with whatever came back in Reply.Raw.
//
// The SDKs' own repeats are off. What is asked again inside one question is
// decided in client.go, bounded in number and by the question's one time limit.
package judge
