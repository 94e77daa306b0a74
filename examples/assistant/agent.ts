import type { Valetkey } from './valetkey.ts';

/** A message that an agent shows while it works. */
export type Step =
  | { kind: 'thought'; text: string }
  | { kind: 'call'; connector: string; tool: string; input: object }
  | { kind: 'result'; data: unknown; milliseconds: number }
  /** The call failed; `connect` names a connection that the user has to connect first. */
  | { kind: 'failed'; detail: string; connect?: string }
  | { kind: 'answer'; text: string };

export interface ToolCall {
  connector: string;
  tool: string;
  input: object;
}

/** The response of a model to a conversation: the next tool call, or the final text. */
export type Turn = { thought: string; call: ToolCall } | { answer: string };

/** Stands for a language model: it decides from the results of the calls so far. */
export type Model = (results: readonly unknown[]) => Turn;

const MAX_TURNS = 8;

// #region The loop of the agent
/** Lets a model call tools with the accounts of a user until it has the final text. */
export async function* runAgent(model: Model, user: string, valetkey: Valetkey): AsyncGenerator<Step> {
  const results: unknown[] = [];
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const next = model(results);
    if ('answer' in next) {
      yield { kind: 'answer', text: next.answer };
      return;
    }
    yield { kind: 'thought', text: next.thought };
    yield { kind: 'call', ...next.call };
    const outcome = await callTool(next.call, user, valetkey);
    yield outcome;
    if (outcome.kind === 'failed') return;
    results.push(outcome.data);
  }
}
// #endregion

// #region Call a tool
type Outcome = Extract<Step, { kind: 'result' | 'failed' }>;

/** The agent names an account, and never sees its token or key. */
async function callTool({ connector, tool, input }: ToolCall, user: string, valetkey: Valetkey): Promise<Outcome> {
  const start = performance.now();
  const account = { connector, user_id: user, identifier: user };
  const call = { ...account, tool_name: tool, tool_input: input };
  const { status, body } = await valetkey.post('/api/v1/execute_tool', call);
  if (status === 200) {
    return { kind: 'result', data: body.data, milliseconds: Math.round(performance.now() - start) };
  }
  const needsUser = status === 404 || status === 409 || body.tool_error?.kind === 'upstream_auth';
  const detail = status === 404 ? 'You have not connected an account yet.' : body.detail;
  return { kind: 'failed', detail, ...(needsUser && { connect: connector }) };
}
// #endregion

/** The questions that the user can ask, with the script that replaces a model. */
export const TASKS: Record<string, { question: string; model: Model }> = {
  acme: {
    question: 'Which files do I have?',
    model: ([files]) => {
      if (files === undefined) return { thought: 'I look into Acme Files.', call: LIST_FILES };
      const { owner, files: names } = files as { owner: string; files: string[] };
      return { answer: `As ${owner}, you have ${names.length} files in Acme Files: ${names.join(' and ')}.` };
    },
  },
  notes: {
    question: 'What do my notes say?',
    model: ([notes]) => {
      if (notes === undefined) return { thought: 'I read the notes.', call: LIST_NOTES };
      return { answer: `Your notes: ${textsOf(notes).join('; ')}.` };
    },
  },
  both: {
    question: 'Write a note about my files.',
    model: ([files, added, notes]) => {
      if (files === undefined) return { thought: 'First I need the names of the files.', call: LIST_FILES };
      const text = `Files: ${(files as { files: string[] }).files.join(', ')}`;
      if (added === undefined) return { thought: 'Now I add a note with these names.', call: addNote(text) };
      if (notes === undefined) return { thought: 'I check that the note is there.', call: LIST_NOTES };
      return { answer: `Done. “${textsOf(notes).at(-1)}” is one of your ${textsOf(notes).length} notes now.` };
    },
  },
};

const LIST_FILES: ToolCall = { connector: 'acme', tool: 'http_get', input: { path: '/files' } };
const LIST_NOTES: ToolCall = { connector: 'notes', tool: 'http_get', input: { path: '/notes' } };

function addNote(text: string): ToolCall {
  return { connector: 'notes', tool: 'http_post', input: { path: '/notes', body: { text } } };
}

function textsOf(notes: unknown): string[] {
  return (notes as { text: string }[]).map(({ text }) => text);
}
