// A program with one of the libraries for agents. It logs its user in as a command does: it prints the address of the
// login, and waits for the browser on a port of this machine.
//
//   node library-client.mjs <library> <address of the server> list|call [tool] [arguments as JSON]
//
// It runs in the folder in which the libraries are installed, and keeps its login in $HOME/login.json. $CLIENT_ID is
// the id of a client that an administrator has registered; without it the program registers itself. With $NO_LOGIN it
// never asks the user.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const load = createRequire(join(process.cwd(), 'package.json'));
const [library, address, action, tool, input = '{}'] = process.argv.slice(2);
const file = join(process.env.HOME, 'login.json');
const state = 'state-of-the-program';

const arrival = Promise.withResolvers();
const listener = createServer((req, res) => {
  const query = new URL(req.url, 'http://localhost').searchParams;
  res.end('You can close this page.');
  if (query.get('state') === state) arrival.resolve(query);
}).listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));

/** The interface that every library requires of an application: `OAuthClientProvider`. */
class KeptLogin {
  redirectUrl = `http://127.0.0.1:${listener.address().port}/callback`;
  kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  wasAsked = false;

  get clientMetadata() {
    const grant_types = ['authorization_code', 'refresh_token'];
    const redirect_uris = [this.redirectUrl];
    return { client_name: library, redirect_uris, grant_types, token_endpoint_auth_method: 'none' };
  }
  #keep(member, value) {
    this.kept[member] = value;
    writeFileSync(file, JSON.stringify(this.kept));
  }
  state = () => state;
  clientInformation = () => (process.env.CLIENT_ID ? { client_id: process.env.CLIENT_ID } : this.kept.client);
  saveClientInformation = (client) => this.#keep('client', client);
  tokens = () => this.kept.tokens;
  saveTokens = (tokens) => this.#keep('tokens', tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => {
    this.verifier = verifier;
  };
  redirectToAuthorization = (url) => {
    if (process.env.NO_LOGIN) throw new Error('the user has to log in');
    this.wasAsked = true;
    console.error(`Log in at ${url}`);
  };
  invalidateCredentials = (scope) => {
    if (scope === 'all' || scope === 'tokens') this.#keep('tokens', undefined);
    if (scope === 'all' || scope === 'client') this.#keep('client', undefined);
  };
}

/** Each library: how it connects, lists, calls, and finishes a login. */
const LIBRARIES = {
  'ai-sdk': {
    finish: (login, query) =>
      load('@ai-sdk/mcp').auth(login, {
        serverUrl: address,
        authorizationCode: query.get('code'),
        callbackState: state,
        callbackIssuer: query.get('iss'),
      }),
    async connect(authProvider) {
      const client = await load('@ai-sdk/mcp').createMCPClient({
        transport: { type: 'http', url: address, authProvider },
      });
      const tools = await client.tools();
      return {
        list: async () => Object.keys(tools),
        call: (name, values) => tools[name].execute(values, { toolCallId: 'call_1', messages: [] }),
        close: () => client.close(),
      };
    },
  },
  langchain: {
    finish: (login, query) =>
      load('@modelcontextprotocol/sdk/client/auth.js').auth(login, {
        serverUrl: address,
        authorizationCode: query.get('code'),
      }),
    async connect(authProvider) {
      const { MultiServerMCPClient } = load('@langchain/mcp-adapters');
      const client = new MultiServerMCPClient({
        throwOnLoadError: true,
        mcpServers: { notes: { transport: 'http', url: address, authProvider } },
      });
      const tools = await client.getTools();
      return {
        list: async () => tools.map(({ name }) => name),
        call: (name, values) => tools.find((entry) => entry.name === name).invoke(values),
        close: () => client.close(),
      };
    },
  },
  'openai-agents': {
    finish: (login, query) =>
      load('@modelcontextprotocol/client').auth(login, {
        serverUrl: address,
        authorizationCode: query.get('code'),
        iss: query.get('iss'),
      }),
    async connect(authProvider) {
      const { MCPServerStreamableHttp } = load('@openai/agents-core');
      const server = new MCPServerStreamableHttp({ url: address, authProvider });
      await server.connect();
      return {
        list: async () => (await server.listTools()).map(({ name }) => name),
        call: (name, values) => server.callTool(name, values),
        close: () => server.close(),
      };
    },
  },
  mastra: {
    finish: (login, query) =>
      load('@modelcontextprotocol/client').auth(login, {
        serverUrl: address,
        authorizationCode: query.get('code'),
        iss: query.get('iss'),
      }),
    async connect(authProvider) {
      const { MCPClient } = load('@mastra/mcp');
      const client = new MCPClient({ servers: { notes: { url: new URL(address), authProvider } } });
      const { tools, errors } = await client.listToolsWithErrors();
      if (errors.notes) throw new Error(errors.notes);
      return {
        list: async () => Object.keys(tools),
        call: (name, values) => tools[`notes_${name}`].execute(values, {}),
        close: () => client.disconnect(),
      };
    },
  },
};

async function run() {
  const { connect, finish } = LIBRARIES[library];
  const login = new KeptLogin();
  const client = await connect(login).catch(async (error) => {
    if (!login.wasAsked) throw error;
    const query = await arrival.promise;
    if (!query.has('code')) throw new Error(`the user has not allowed it: ${query.get('error')}`);
    await finish(login, query);
    return connect(login);
  });
  const result = action === 'list' ? await client.list() : await client.call(tool, JSON.parse(input));
  await client.close();
  return result;
}

const code = await run().then(
  (result) => {
    console.log(JSON.stringify(result));
    return 0;
  },
  (error) => {
    console.error(error);
    return 1;
  },
);
process.exit(code);
