import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../../scripts/demo/process.ts';
import { type ClientRun, type RunOptions, runClient } from './run-client.ts';
import { type ClientsWorld, TOOL } from './world.ts';

/** The folder in which `make test-system` installs the clients. */
const INSTALLED = join(import.meta.dirname, '../../../../.clients');
const PACKAGES = join(INSTALLED, 'node_modules');

/** A user's machine with one client. */
export interface Place {
  /** The home directory. */
  home: string;
  world: ClientsWorld;
}

type OnLogin = RunOptions['onLogin'];

export interface McpClient {
  /** Configures the client with the address, as its user does. */
  setUp?(place: Place): Promise<unknown>;
  logIn(place: Place, onLogin: OnLogin): Promise<ClientRun>;
  /** Lists the tools, or shows that the client has connected. Its output matches `listed`. */
  list(place: Place): Promise<ClientRun>;
  listed: RegExp;
  /** Calls the tool, without a new login. */
  call(place: Place): Promise<ClientRun>;
}

const INPUT = JSON.stringify(TOOL.input);

/** A test program with an agent library. `clientId` registers a client first, for a library that does not do so. */
function library(name: string, clientId?: (place: Place) => Promise<string>): McpClient {
  const program = join(import.meta.dirname, 'library-client.mjs');
  const run = async (place: Place, args: string[], onLogin?: OnLogin) => {
    const { home, world } = place;
    const env = { ...(clientId && { CLIENT_ID: await clientId(place) }), ...(!onLogin && { NO_LOGIN: '1' }) };
    return runClient(['node', program, name, world.address, ...args], { home, env, onLogin, folder: INSTALLED });
  };
  return {
    logIn: (place, onLogin) => run(place, ['list'], onLogin),
    list: (place) => run(place, ['list']),
    listed: new RegExp(TOOL.name),
    call: (place) => run(place, ['call', TOOL.name, INPUT]),
  };
}

const registered = new Map<string, Promise<string>>();

/** Registers a client as an administrator does, once for each machine. */
function registeredBy({ home, world }: Place): Promise<string> {
  const body = { name: 'Agent of Acme', redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'] };
  const id =
    registered.get(home) ??
    world.server.call('POST', '/api/v1/mcp/clients', { body }).then((made) => made.body.client.id);
  registered.set(home, id);
  return id;
}

const mcpRemote: McpClient = {
  logIn: ({ home, world }, onLogin) =>
    runClient(['node', join(PACKAGES, 'mcp-remote/dist/client.js'), world.address], { home, onLogin }),
  list: (place) => converse(place, 'tools/list', {}),
  listed: new RegExp(TOOL.name),
  call: (place) => converse(place, 'tools/call', { name: TOOL.name, arguments: TOOL.input }),
};

/** Sends a request to mcp-remote, as a client that only supports local servers does. */
function converse({ home, world }: Place, method: string, params: object): Promise<ClientRun> {
  const clientInfo = { name: 'test', version: '1' };
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method, params },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const conversation = { input, until: /"id":2[,}].*\n/ };
  return runClient(['node', join(PACKAGES, 'mcp-remote/dist/proxy.js'), world.address], { home, conversation });
}

/** Makes the Inspector keep tokens in a file, because its secret store needs the message bus of a desktop. */
const INSPECTOR_ENV = { MCP_INSPECTOR_SECRET_STORE: 'file', MCP_AUTO_OPEN_ENABLED: 'true' };

async function inspect({ home, world }: Place, args: string[], onLogin?: OnLogin): Promise<ClientRun> {
  const launcher = join(PACKAGES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  const options = ['--transport', 'http', '--format', 'json', '--callback-url', callback];
  const login = onLogin ? [] : ['--stored-auth-only'];
  return runClient(['node', launcher, '--cli', world.address, ...options, ...login, ...args], {
    home,
    env: INSPECTOR_ENV,
    onLogin,
  });
}

const inspector: McpClient = {
  logIn: (place, onLogin) => inspect(place, ['--method', 'tools/list'], onLogin),
  list: (place) => inspect(place, ['--method', 'tools/list']),
  listed: new RegExp(TOOL.name),
  call: (place) => inspect(place, ['--method', 'tools/call', '--tool-name', TOOL.name, '--tool-args-json', INPUT]),
};

/** @param addOptions options of `claude mcp add` */
function claudeCode(addOptions: (place: Place) => Promise<string[]> = async () => []): McpClient {
  const run = ({ home, world }: Place, args: string[], options: Partial<RunOptions> = {}) => {
    const env = {
      // The model is on this machine; with another address the program first waits for names that cannot be resolved.
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${world.model.port}`,
      ANTHROPIC_API_KEY: 'key-of-the-model',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
    };
    const wrapper = join(PACKAGES, '@anthropic-ai/claude-code/cli-wrapper.cjs');
    return runClient(['node', wrapper, ...args], { home, env, ...options });
  };
  return {
    setUp: async (place) => {
      const options = await addOptions(place);
      return run(place, ['mcp', 'add', '--transport', 'http', ...options, 'notes', place.world.address]);
    },
    logIn: (place, onLogin) => run(place, ['mcp', 'login', 'notes'], { isInteractive: true, onLogin }),
    list: (place) => run(place, ['mcp', 'list']),
    listed: /notes: .*Connected/,
    call: (place) => run(place, ['-p', 'Read note 7', '--allowedTools', 'mcp__notes', '--model', 'claude-sonnet-4-5']),
  };
}

const geminiCli: McpClient = {
  async setUp({ home, world }) {
    mkdirSync(join(home, '.gemini'));
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: { notes: { httpUrl: world.address } },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  },
  logIn: (place, onLogin) => gemini(place, ['-p', '/mcp auth notes'], { isInteractive: true, onLogin }),
  list: (place) => gemini(place, ['mcp', 'list']),
  listed: /notes: .* - Connected/,
  call: (place) => gemini(place, ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '-p', 'Read note 7']),
};

function gemini({ home, world }: Place, args: string[], options: Partial<RunOptions> = {}): Promise<ClientRun> {
  // The program checks by its own clock whether a token has expired.
  const ahead = `const { now } = Date; Date.now = () => now() + ${world.aheadMs()};`;
  const env = {
    GEMINI_API_KEY: 'key-of-the-model',
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${world.model.port}`,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ahead)}`,
  };
  return runClient(['node', join(PACKAGES, '@google/gemini-cli/bundle/gemini.js'), ...args], { home, env, ...options });
}

export const CLIENTS: Readonly<Record<string, McpClient>> = {
  'mcp-remote': mcpRemote,
  'MCP Inspector': inspector,
  'Claude Code': claudeCode(),
  'Claude Code with an id from the administrator': claudeCode(async (place) => [
    '--client-id',
    await registeredBy(place),
  ]),
  'Gemini CLI': geminiCli,
  'the AI SDK': library('ai-sdk'),
  LangChain: library('langchain'),
  'OpenAI Agents': library('openai-agents'),
  Mastra: library('mastra', registeredBy),
};
