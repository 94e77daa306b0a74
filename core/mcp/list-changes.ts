import { createHash } from 'node:crypto';
import type { EnvironmentId, Store } from '../../db/store.ts';
import type { EventSink } from '../events/sink.ts';
import type { EventType } from '../events/types.ts';
import type { Tool } from '../tools/tool.ts';
import { usersAccounts } from './contents/users-accounts.ts';
import { type OfferDeps, offeredNames, presentOffered } from './offered-tools.ts';
import { findServer, type McpServerDefinition } from './server-definition.ts';
import { type McpSession, ownerOf } from './session.ts';

/** The lists whose changes are reported to clients. */
const LIST_KINDS = ['tools', 'resources', 'prompts'] as const;

export type ListKind = (typeof LIST_KINDS)[number];

/** The lists that one stream watches. */
export interface ListWatch {
  /** Called after each change. The caller of `watch` assigns it. */
  changed: (kind: ListKind) => void;
  stop(): void;
}

export interface ListChanges {
  /** Begins to watch the lists of a session. All changes after the promise has resolved are reported. */
  watch(session: McpSession): Promise<ListWatch>;
  /** Compares the lists of all watched sessions, to notice changes that other processes have made. */
  check(): Promise<void>;
  /** Compares the lists of an environment when this process has changed something that they depend on. */
  readonly sink: EventSink;
}

export interface ListChangesDeps extends OfferDeps {
  store: Pick<Store, 'read'>;
  log: { error(fields: object, message: string): void };
  /** Resolves after some milliseconds. */
  pause(ms: number): Promise<void>;
}

interface Watched {
  session: McpSession;
  /** The digest of each list at the last comparison; before the first one, at the time when the watch began. */
  digests: Record<ListKind, string>;
  streams: Set<ListWatch>;
}

/** The events that can report a change of a list. Events about calls are left out: they are frequent, and never do. */
const CHANGES = /^(connected_account|connection|custom_provider|tools?|tool_overlay|mcp_config)\./;
const NO_CHANGES: ReadonlySet<EventType> = new Set([
  'connected_account.credentials_read',
  'connected_account.refresh_failed',
]);

/**
 * After a check, the environment is not checked again for four times as long as the check took. So checks use at most
 * a fifth of the time.
 */
const PAUSE = 4;

/**
 * Watches the lists of MCP servers for clients that wait for changes, by comparing digests. So it does not matter which
 * setting was changed, nor by which process.
 */
export function createListChanges(deps: ListChangesDeps): ListChanges {
  const watched = new Map<string, Watched>();
  /** Comparisons run one after the other, so each change is reported once. */
  let last: Promise<void> = Promise.resolve();

  async function compare(entry: Watched, servers: ServerReader): Promise<void> {
    const digests = await digestsOf(deps, entry.session, servers);
    const changed = LIST_KINDS.filter((kind) => digests[kind] !== entry.digests[kind]);
    entry.digests = digests;
    for (const kind of changed) for (const stream of entry.streams) stream.changed(kind);
  }

  function checkThose(matches: (entry: Watched) => boolean): Promise<void> {
    last = last.then(async () => {
      const servers = createServerReader(deps);
      for (const entry of [...watched.values()].filter(matches)) {
        await compare(entry, servers).catch((err) =>
          deps.log.error(
            { err, environment: entry.session.environment.id, server_id: entry.session.server.id },
            'the lists of an MCP server could not be checked for changes',
          ),
        );
      }
    });
    return last;
  }

  /** The environments in a check or in the pause after it. `again`: another change requires a further check. */
  const checked = new Map<EnvironmentId, { again: boolean }>();

  /**
   * Checks the watched lists of an environment. It pauses after each check, so that an environment with many streams
   * and changes does not use all processor time.
   */
  async function checkEnvironment(id: EnvironmentId): Promise<void> {
    const current = checked.get(id);
    if (current) current.again = true;
    if (current || ![...watched.values()].some(({ session }) => session.environment.id === id)) return;
    const state = { again: true };
    checked.set(id, state);
    while (state.again) {
      state.again = false;
      const begin = performance.now();
      await checkThose(({ session }) => session.environment.id === id);
      await deps.pause(PAUSE * (performance.now() - begin));
    }
    checked.delete(id);
  }

  return {
    async watch(session) {
      const key = ownerOf(session);
      const digests = watched.get(key)?.digests ?? (await digestsOf(deps, session, createServerReader(deps)));
      const entry = watched.get(key) ?? { session, digests, streams: new Set() };
      watched.set(key, entry);
      const stream: ListWatch = {
        changed: () => {},
        stop() {
          entry.streams.delete(stream);
          if (entry.streams.size === 0 && watched.get(key) === entry) watched.delete(key);
        },
      };
      entry.streams.add(stream);
      return stream;
    },
    check: () => checkThose(() => true),
    sink: {
      accepts: (type) => CHANGES.test(type) && !NO_CHANGES.has(type),
      handle: (tx, { cause }) => tx.afterCommit(() => void checkEnvironment(cause.environmentId)),
    },
  };
}

/** The current definition of an MCP server (undefined if it was deleted) and the digest of its tools, for all users. */
interface ServerNow {
  server: McpServerDefinition | undefined;
  tools: string;
}

type ServerReader = (session: McpSession) => Promise<ServerNow>;

/** Creates a reader that reads each MCP server's definition and tools once, because many users may watch a server. */
function createServerReader(deps: ListChangesDeps): ServerReader {
  const known = new Map<string, Promise<ServerNow>>();
  return ({ environment, server: { id } }) => {
    const key = JSON.stringify([environment.id, id]);
    const reading = known.get(key) ?? readServer(deps, environment.id, id);
    known.set(key, reading);
    return reading;
  };
}

async function readServer(deps: ListChangesDeps, environmentId: EnvironmentId, id: string): Promise<ServerNow> {
  const { read } = deps.store;
  const server = await findServer(read, environmentId, id);
  if (!server) return { server, tools: '' };
  const all = await offeredNames(read, deps, server);
  const tools = createHash('sha256');
  for (let start = 0; start < all.length; ) {
    const { items, taken } = await presentOffered(read, deps, all.slice(start), digestOfTool);
    tools.update(JSON.stringify(items));
    start += taken;
  }
  return { server, tools: tools.digest('base64url') };
}

/**
 * Returns a digest of each list. Resources and prompts are listed by third-party servers, so their digest covers only
 * the connections and accounts that these lists depend on.
 */
async function digestsOf(
  { store: { read } }: ListChangesDeps,
  session: McpSession,
  servers: ServerReader,
): Promise<Record<ListKind, string>> {
  const { server, tools } = await servers(session);
  if (!server) return { tools, resources: '', prompts: '' };
  const current = { ...session, server };
  const [resources, prompts] = await Promise.all([
    usersAccounts(read, current, 'resources'),
    usersAccounts(read, current, 'prompts'),
  ]);
  return { tools, resources, prompts };
}

const digests = new WeakMap<Tool, string>();

function digestOfTool(tool: Tool): string {
  const known = digests.get(tool);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(tool)).digest('base64url');
  digests.set(tool, digest);
  return digest;
}
