import type { ServerResponse } from 'node:http';
import { json, startUpstream, type Upstream } from '../../../support/upstream.ts';

/** The part of a request that the model sees: the names of the tools, and the results of tools. */
interface Turn {
  tools: string[];
  results: unknown[];
}

/**
 * Starts a model on this machine that speaks the interfaces of Anthropic and Gemini, so that agents need no account. At
 * its first turn it calls the tool whose name ends with `toolName`; then it repeats the result as its own text.
 *
 * @param input the arguments of the call
 */
export function startModel(toolName: string, input: object): Promise<Upstream> {
  return startUpstream(({ target, body }, res) => {
    const path = new URL(target, 'http://localhost').pathname;
    const request = JSON.parse(body || '{}');
    if (path === '/v1/messages') return sendAnthropic(res, request, toolName, input);
    if (path.endsWith(':streamGenerateContent')) return sendGemini(res, request, toolName, input);
    json(res, 404, { error: { message: 'the model does not have this endpoint' } });
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the request of a third party's program
type Any = any;

function sendAnthropic(res: ServerResponse, request: Any, toolName: string, input: object): void {
  const blocks: Any[] = (request.messages ?? []).flatMap(({ content }: Any) => (Array.isArray(content) ? content : []));
  const turn: Turn = {
    tools: (request.tools ?? []).map(({ name }: Any) => name),
    results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => content),
  };
  const name = toolToCall(turn, toolName);
  const block = name ? { type: 'tool_use', id: 'toolu_1', name, input: {} } : { type: 'text', text: '' };
  const delta = name
    ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    : { type: 'text_delta', text: words(turn) };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: request.model, content: [], usage };
  const stop = { stop_reason: name ? 'tool_use' : 'end_turn', stop_sequence: null };
  const events: Any[] = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage },
    { type: 'message_stop' },
  ];
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

function sendGemini(res: ServerResponse, request: Any, toolName: string, input: object): void {
  const declared: Any[] = (request.tools ?? []).flatMap((tool: Any) => tool.functionDeclarations ?? []);
  const parts: Any[] = (request.contents ?? []).flatMap((content: Any) => content.parts ?? []);
  const turn: Turn = {
    tools: declared.map(({ name }) => name),
    results: parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse.response] : [])),
  };
  const name = toolToCall(turn, toolName);
  const part = name ? { functionCall: { name, args: input } } : { text: words(turn) };
  const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(`data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`);
}

function toolToCall({ tools, results }: Turn, toolName: string): string | undefined {
  return results.length > 0 ? undefined : tools.find((name) => name.endsWith(toolName));
}

function words({ results }: Turn): string {
  return results.length > 0 ? `The tool results ${JSON.stringify(results)}` : 'I have no such tool.';
}
