import type { InputRequests, McpRequestContext, McpServer, ServerContext } from '@modelcontextprotocol/server';
import * as sdk from '@modelcontextprotocol/server';

// The tools, prompts and resources that the scenarios of the conformance suite expect of a server.

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const TEXT_RESOURCE = 'test://static-text';
const IMAGE = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };

const { inputRequired } = sdk;
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const object = (properties: Record<string, unknown> = {}) =>
  sdk.fromJsonSchema<Record<string, string>>({ type: 'object', properties } as never);
const ask = (message: string, properties: Record<string, unknown>, required: string[] = []) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } as never });
const sample = (words: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: words } }],
    maxTokens: 100,
  });

const codec = sdk.createRequestStateCodec<{ round: number }>({ key: new Uint8Array(32).fill(7) });

const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const TITLED = [1, 2, 3].map((number) => ({ const: `value${number}`, title: `Option ${number}` }));
const ENUMS = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: ['option1', 'option2'] } },
  titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: TITLED } },
};

/** Creates the server of one request, or of one session in the older revision. */
export function conformanceServer({ era }: McpRequestContext): McpServer {
  const isLegacy = era === 'legacy';
  const server = new sdk.McpServer(
    { name: 'valetkey-conformance', version: '1.0.0' },
    {
      capabilities: { tools: {}, prompts: {}, completions: {}, resources: { subscribe: isLegacy }, logging: {} },
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'private' } },
      requestState: { verify: codec.verify },
    },
  );
  addTools(server);
  addInputTools(server);
  addResources(server, isLegacy);
  addPrompts(server);
  server.server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}

type Answer = Awaited<ReturnType<Parameters<McpServer['registerTool']>[2]>>;
type Run = (args: Record<string, string>, ctx: ServerContext) => Answer | Promise<Answer>;

function addTool(server: McpServer, name: string, run: Run, properties: Record<string, unknown> = {}): void {
  server.registerTool(name, { description: `Conformance: ${name}`, inputSchema: object(properties) }, run as never);
}

function addTools(server: McpServer): void {
  const resource = (uri: string) => ({
    type: 'resource' as const,
    resource: { uri, mimeType: 'text/plain', text: 'Embedded text.' },
  });
  addTool(server, 'test_simple_text', () => text('This is a simple text response for testing.'));
  addTool(server, 'test_image_content', () => ({ content: [IMAGE] }));
  addTool(server, 'test_audio_content', () => ({
    content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  }));
  addTool(server, 'test_embedded_resource', () => ({ content: [resource('test://embedded-resource')] }));
  addTool(server, 'test_multiple_content_types', () => ({
    content: [{ type: 'text', text: 'Several contents:' }, IMAGE, resource('test://mixed-content-resource')],
  }));
  addTool(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  const log: Run = async (_args, ctx) => {
    for (const step of ['started', 'processing', 'completed']) await ctx.mcpReq.log('info', `Tool ${step}`);
    return text('Logged.');
  };
  addTool(server, 'test_tool_with_logging', log);
  addTool(server, 'test_logging_tool', log);
  addTool(server, 'test_tool_with_progress', async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    }
    return text(String(progressToken));
  });
}

/** Adds a tool that first asks the user, and ends when it gets the response. */
function addAsking(
  server: McpServer,
  name: string,
  requests: (args: Record<string, string>) => InputRequests,
  { state = false, properties = {} }: { state?: boolean; properties?: Record<string, unknown> } = {},
): void {
  const run: Run = async (args, ctx) => {
    const { inputResponses } = ctx.mcpReq;
    const asked = requests(args);
    if (inputResponses && Object.keys(asked).every((key) => isObject(inputResponses[key]))) {
      return text(`${name}: ${JSON.stringify(inputResponses)}${state ? ' state-ok' : ''}`);
    }
    return inputRequired({
      inputRequests: asked,
      ...(state && { requestState: await codec.mint({ round: 1 }, ctx) }),
    });
  };
  addTool(server, name, run, properties);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function addInputTools(server: McpServer): void {
  const name = { name: { type: 'string' } };
  const words = { type: 'string' };
  addAsking(server, 'test_sampling', ({ prompt = '' }) => ({ sample: sample(prompt) }), {
    properties: { prompt: words },
  });
  addAsking(server, 'test_elicitation', ({ message = '' }) => ({ user: ask(message, { response: words }) }), {
    properties: { message: words },
  });
  addAsking(server, 'test_elicitation_sep1034_defaults', () => ({ form: ask('Review the defaults', DEFAULTS) }));
  addAsking(server, 'test_elicitation_sep1330_enums', () => ({ form: ask('Choose', ENUMS) }));
  addAsking(server, 'test_streaming_elicitation', () => ({ form: ask('Your name?', name) }));
  addAsking(server, 'test_missing_capability', () => ({ sample: sample('Anything') }));
  addAsking(server, 'test_input_required_result_elicitation', () => ({ user_name: ask('Your name?', name) }));
  addAsking(server, 'test_input_required_result_sampling', () => ({ capital_question: sample('A capital?') }));
  addAsking(server, 'test_input_required_result_list_roots', () => ({ client_roots: inputRequired.listRoots() }));
  addAsking(
    server,
    'test_input_required_result_request_state',
    () => ({ confirm: ask('Sure?', { ok: { type: 'boolean' } }) }),
    { state: true },
  );
  addAsking(
    server,
    'test_input_required_result_tampered_state',
    () => ({ confirm: ask('Sure?', { ok: { type: 'boolean' } }) }),
    { state: true },
  );
  addAsking(
    server,
    'test_input_required_result_multiple_inputs',
    () => ({
      user_name: ask('Your name?', name),
      greeting: sample('Greet them'),
      client_roots: inputRequired.listRoots(),
    }),
    { state: true },
  );
  addTool(server, 'test_input_required_result_multi_round', async (_args, ctx) => {
    const round = ctx.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2) return text('Both rounds are done.');
    const next = round + 1;
    return inputRequired({
      inputRequests: { [`step${next}`]: ask(`Step ${next}`, name) },
      requestState: await codec.mint({ round: next }, ctx),
    });
  });
  addTool(server, 'test_input_required_result_capabilities', (_args, { mcpReq }) => {
    const declared = (mcpReq.envelope as Record<string, Record<string, object>> | undefined)?.[
      sdk.CLIENT_CAPABILITIES_META_KEY
    ];
    return inputRequired({
      inputRequests: {
        ...(declared?.sampling && { sample: sample('Anything') }),
        ...(declared?.elicitation && { form: ask('Your name?', name) }),
      },
      requestState: 'none',
    });
  });
}

function addResources(server: McpServer, subscribes: boolean): void {
  const read = (uri: string, content: { text: string } | { blob: string }, mimeType: string) => ({
    contents: [{ uri, mimeType, ...content }],
  });
  const cacheHint = { ttlMs: 60_000, cacheScope: 'private' as const };
  server.registerResource('static-text', TEXT_RESOURCE, { mimeType: 'text/plain', cacheHint }, () =>
    read(TEXT_RESOURCE, { text: 'This is the content of the static text resource.' }, 'text/plain'),
  );
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, () =>
    read('test://static-binary', { blob: PIXEL }, 'image/png'),
  );
  server.registerResource('watched', 'test://watched-resource', { mimeType: 'text/plain' }, () =>
    read('test://watched-resource', { text: 'Watched.' }, 'text/plain'),
  );
  const template = new sdk.ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) =>
    read(
      uri.href,
      { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) },
      'application/json',
    ),
  );
  if (!subscribes) return;
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server: McpServer): void {
  const said = (content: object) => ({ role: 'user' as const, content }) as never;
  const words = (given: string) => said({ type: 'text', text: given });
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt' }, () => ({
    messages: [words('This is a simple prompt for testing.')],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Two arguments', argsSchema: object({ arg1: { type: 'string' }, arg2: { type: 'string' } }) },
    ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource', argsSchema: object({ resourceUri: { type: 'string' } }) },
    ({ resourceUri }) => ({
      messages: [
        said({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded text.' } }),
        words('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'An image' }, () => ({
    messages: [said(IMAGE), words('Please analyze the image above.')],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, ((ctx: ServerContext) => {
    const given = ctx.mcpReq.inputResponses?.['user_context'];
    if (given) return { messages: [words(`Context: ${JSON.stringify(given)}`)] };
    return inputRequired({ inputRequests: { user_context: ask('Context?', { context: { type: 'string' } }) } });
  }) as never);
}
