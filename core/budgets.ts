/**
 * The limits and budgets of the server, in one place. The end of a name is the unit: `…Bytes`, `…Ms` (milliseconds);
 * most other values are counts. A value is a maximum if its comment does not say what else it is. Documents that state
 * one of these values mark it with an HTML comment, and a test compares the two (test/contract/figures.test.ts).
 * Threats such as S2 are listed in docs/security.md. Types that enforce a budget are in core/budgets/. This file
 * imports nothing.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** HTTP connections of clients (threat S2). */
export const SERVER = {
  /** The maximum header section of one request. Tokens fit, and many headers cannot fill the memory. */
  headerBytes: 16 * KIB,
  /**
   * The longest time from the first byte of a request to the end of its headers. Clients that send slowly would
   * otherwise keep connections open.
   */
  headersMs: 10 * SECOND,
  /** The longest time from the first byte of a request to its last one. */
  requestMs: 30 * SECOND,
  /** An idle connection is closed after this time. */
  keepAliveMs: 30 * SECOND,
  /** How often connections are checked against `headersMs` and `requestMs`. */
  checkEveryMs: 5 * SECOND,
  /** The maximum number of open connections: each takes memory and a file descriptor. */
  connections: 10_000,
  /** The maximum number of open connections of one client address, unless `VALETKEY_CONNECTIONS_PER_ADDRESS` is set. */
  connectionsPerAddress: 1_000,
  /** The longest time from the start of a connection to its first byte. */
  firstByteMs: 5 * SECOND,
  /**
   * A client that reads none of its queued bytes for this time is disconnected. Node may need twice this time to detect
   * it.
   */
  stalledMs: 15 * SECOND,
  /** Bytes of responses that may be queued for all clients together. */
  queuedBytes: 64 * MIB,
  /** How often connections are checked against `firstByteMs`, `stalledMs` and `queuedBytes`. */
  watchEveryMs: 500,
  /** The maximum number of requests that wait on one connection for the response to an earlier request. */
  pipelined: 32,
  /** How long running requests may take to finish when the server stops. */
  drainMs: 10 * SECOND,
} as const;

/** Bodies of requests to the API (threat S1). */
export const REQUEST_BODY = {
  /** The limit for operations whose contract declares no other. */
  bytes: 256 * KIB,
  /**
   * The limit for imports, which contain whole OpenAPI documents. The contract declares this limit as
   * `x-valetkey-max-body-bytes`.
   */
  importBytes: 16 * MIB,
  /**
   * The limit for token requests: a few short parameters from clients that are not authenticated yet. The contract
   * declares this limit too.
   */
  tokenBytes: 16 * KIB,
  /** The maximum number of parameters of a token request. */
  tokenPairs: 20,
  /** The maximum number of fields of a form on a page of Valetkey; a connector has far fewer. */
  formPairs: 100,
  /** The maximum number of parameters of a query string: an operation has far fewer. */
  queryPairs: 100,
  /** The limit for the body of a raw call, which is forwarded without parsing. */
  rawBytes: 10 * MIB,
  /** The maximum number of chunks of one body: each costs processing time, even if it is small. */
  chunks: 2 ** 16,
  /** The maximum number of chunks of a form. It is lower, because its sender is not authenticated yet. */
  formChunks: 512,
  /** The maximum nesting of JSON: deeper values could exhaust the stack of recursive code. */
  levels: 32,
  /**
   * The maximum number of values in JSON, counted before parsing. A body of ordinary size cannot contain so many, and
   * imports have far fewer.
   */
  nodes: 200_000,
  /** JSON above this size is parsed in a thread, because it would block the event loop. */
  threadBytes: 256 * KIB,
  /** The maximum time to parse one body in a thread. */
  parseMs: 5 * SECOND,
  /** Up to this size, all validation errors of a body are reported; for a larger body only the first one. */
  allErrorsBytes: 16 * KIB,
} as const;

/**
 * Limits of problem documents, so that an error does not cost more, or return more, than the request that caused it.
 */
export const PROBLEM = {
  /** The maximum number of entries in `errors`. */
  errors: 20,
  /** The maximum length of `field`, in characters. */
  fieldChars: 256,
  /** The maximum length of `message`, in characters. */
  messageChars: 500,
  /** The maximum length of `detail`, in characters. */
  detailChars: 2000,
} as const;

/** Memory for bodies: of requests, of calls to third parties and of their responses (core/budgets/byte-budget.ts). */
export const BODIES = {
  /**
   * All bodies together. One environment can use at most half of it (two thirds for the first bytes of requests), and
   * less if other environments use much.
   */
  totalBytes: 256 * MIB,
  /**
   * Reserved for the response before a call to a third party is sent. Without it, a call with a short response could
   * take effect and then fail because its response does not fit.
   */
  firstBytes: 64 * KIB,
  /**
   * This many first bytes of each request body are not counted, because the number of connections already limits them.
   */
  uncountedBytes: 16 * KIB,
  /** The longest wait for space. */
  waitMs: 5 * SECOND,
  /** The maximum number of calls that wait for space. */
  waiting: 2_000,
} as const;

/** The logo of an environment, which every page of a link shows. */
export const LOGO = {
  /** Enough for a drawing, and small enough to load with each page. */
  bytes: 64 * KIB,
  /** The maximum width and height: a small compressed file can contain a very large image. */
  pixels: 2048,
} as const;

/** How long Valetkey keeps tokens and rows. */
export const LIFETIME = {
  /** Access tokens of API clients. This is also the maximum time for which a leaked token is useful. */
  accessTokenMs: HOUR,
  /** A page token: long enough to read a whole list, short enough that the list has not changed much. */
  pageTokenMs: DAY,
  /** An idempotency key and the response stored for it: longer than any sensible retry. */
  idempotencyKeyMs: DAY,
  /**
   * How long the old secret of an API client or of a webhook endpoint stays valid after a rotation, unless the request
   * sets another time.
   */
  secretOverlapMs: DAY,
  /** An MCP session token, unless the request sets another time. */
  mcpSessionMs: HOUR,
  /** The default lifetime of an authorization link: long enough for mail, short because links can leak. */
  linkMs: 15 * MINUTE,
  /** A file that a tool created, and its address. */
  fileMs: HOUR,
  /** Execution records, unless the environment has its own setting. */
  executionsMs: 90 * DAY,
  /** Statistics of executions and refreshes: as long as the longest month. */
  statisticsMs: 31 * DAY,
  /** Ended jobs, for example revocations: their outcome can be read for this time. */
  endedJobsMs: 90 * DAY,
  /** The input of a failed job, which a retry needs. */
  failedJobPayloadMs: 7 * DAY,
  /** How long the server retries a revocation that fails for a reason that may be temporary. */
  revocationAttemptsMs: 3 * DAY,
  /** How long events and their deliveries are stored. */
  eventsMs: 30 * DAY,
  /** A link that has ended: its page can still show how it ended. */
  endedLinkMs: DAY,
} as const;

/** The console and its operators. */
export const OPERATORS = {
  /** A one-time address: long enough to copy it to a browser. */
  addressMs: 15 * MINUTE,
  /** A session: one working day. */
  sessionMs: 12 * HOUR,
  /** An access token of a session. Its lifetime is short, because the page of the console holds it in its memory. */
  tokenMs: 10 * MINUTE,
  /** A login at the OpenID provider of the company. */
  companyLoginMs: 10 * MINUTE,
  /** The maximum number of sessions and unused one-time addresses of one environment. */
  sessions: 1000,
} as const;

/** Statistics of executions. */
export const STATISTICS = {
  /** The maximum number of groups in one response. Groups by hour are limited by the period instead. */
  groups: 100,
} as const;

/** Limits for reading long lists. Each statement should block the event loop only for a few milliseconds. */
export const LIST = {
  /** The maximum number of rows that one statement reads. Other work can run before the next statement. */
  slice: 2048,
  /** The maximum number of matches that are counted; for longer lists the total is a lower bound. */
  counted: 10_000,
  /** The maximum number of slices that are read to count matches. */
  countedSlices: 50,
  /** The maximum number of matches of a search that are counted. */
  countedBySearch: 1_000,
  /** The size of the tools with their schemas in one response, as JSON. A page ends with the tool that exceeds it. */
  toolsBytes: MIB,
  /** The size of the tools, as JSON, that are read or written before other work can run. This takes about 5 ms. */
  toolsTurnBytes: 128 * KIB,
} as const;

/** Limits for removing expired rows. Each transaction should block the event loop only for a few milliseconds. */
export const RETENTION = {
  /** The maximum number of small rows that one transaction removes. */
  rows: 200,
  /**
   * Encrypted bytes that one transaction removes and overwrites on the disk. A larger row is removed in its own
   * transaction.
   */
  bytes: MIB,
  /**
   * The pause between two transactions. It leaves most of the time to other work, and rows are still removed faster
   * than any load creates them.
   */
  pauseMs: 15,
  /** The maximum number of audit records in one file of the archive. */
  auditFileRows: 10_000,
} as const;

/** Background work of the server. `…FirstMs` is the delay of the first run after a start. */
export const BACKGROUND = {
  /** The pause between two steps of the preparations after a start. */
  warmUpPauseMs: 5,
  /**
   * Removal of expired rows. The first run is soon after the start, because rows that expired while the server was
   * stopped slow its queries down.
   */
  retentionFirstMs: 5 * SECOND,
  retentionMs: MINUTE,
  /** Refreshes of idle accounts whose grant would otherwise expire. */
  keepAliveFirstMs: MINUTE,
  keepAliveMs: HOUR,
  /** How many idle accounts are refreshed concurrently. Low, because this work is not urgent. */
  keepAliveConcurrency: 4,
  /**
   * An idle grant is refreshed after about this percentage of its maximum idle time. The rest is a reserve for outages,
   * during which refreshes fail.
   */
  keepAlivePercent: 80,
  /** The maximum number of concurrent revocations at one provider of an environment. */
  revocationsPerProvider: 4,
  /**
   * The maximum time of one revocation attempt. It revokes up to two tokens, and may read metadata from several
   * addresses. Each request has the time limit of a protocol call.
   */
  revocationMs: 90 * SECOND,
  /**
   * The wait after the first failed attempt of a revocation. It doubles with each failure. Each wait is shortened by a
   * random part, up to half of it.
   */
  revocationDelayMs: 10 * SECOND,
  revocationLongestDelayMs: HOUR,
  /** How often expired links are ended. */
  linksMs: 30 * SECOND,
  /** How often outdated tool lists of MCP servers are read again. */
  toolListsMs: MINUTE,
  /** How often the hashes of the last entries of the audit log are published as an event. */
  auditHeadsMs: DAY,
  auditHeadsFirstMs: HOUR,
  /**
   * How often the times at which accounts were last used, which are collected in memory, are written to the database.
   */
  usageMs: 5 * SECOND,
  /** How often the rows that together store one count are combined into one row. Only PostgreSQL needs this. */
  foldMs: 5 * SECOND,
} as const;

/** The job engine. */
export const JOBS = {
  /** How often the engine looks for due jobs. */
  lookEveryMs: SECOND,
  /** How soon the engine looks after a job was added. The delay lets jobs that are added together start together. */
  soonMs: 50,
  /** How soon the engine looks after an attempt has ended. The delay lets one transaction take several jobs. */
  nextMs: 10,
  /** The maximum number of concurrent attempts of all jobs together, except kinds that have their own maximum. */
  total: 32,
  /**
   * The maximum number of lanes that one pass checks for each kind of job. A lane is a queue of jobs of one kind, such
   * as the deliveries of one webhook endpoint. If there are more lanes, the next pass follows immediately.
   */
  lanesPerLook: 200,
  /** The maximum number of jobs of stopped servers that one pass releases. */
  abandonedPerLook: 100,
  /**
   * How long a transaction in which this process takes jobs counts as possibly committed after it has failed, because
   * the database may still commit it. Databases end open transactions within a shorter time.
   */
  lostClaimMs: MINUTE,
  /** The interval between two runs of a periodic job is shortened by a random part, up to this fraction of it. */
  periodJitter: 0.1,
  /** How long a stop waits for running jobs. */
  stopMs: 5 * SECOND,
  /** The maximum number of jobs of one kind that the metrics count; if there are more, the metrics show this number. */
  counted: 10_000,
} as const;

/** Deliveries of events to webhook endpoints. */
export const WEBHOOKS = {
  /** The maximum number of endpoints of one environment. An event needs a row for each of them. */
  endpoints: 50,
  /**
   * The waits after failed attempts. Each is shortened by a random part, up to a fifth of it. The delivery fails if the
   * attempt after the last wait fails.
   */
  retryDelaysMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
  /** The longest wait that an endpoint can ask for by `Retry-After`. */
  longestDelayMs: 24 * HOUR,
  /** A delivery fails after this time, even if its endpoint requested long waits. */
  giveUpMs: 6 * DAY,
  /** An endpoint is disabled if all attempts failed for this time. */
  disableAfterMs: 5 * DAY,
  /** The maximum time of one attempt: that of a protocol call (15 s), and some time to wait for a slot. */
  attemptMs: 20 * SECOND,
  /**
   * The maximum number of concurrent attempts: of one endpoint, of one endpoint whose last attempt failed, and of all
   * endpoints.
   */
  perEndpoint: 4,
  perFailingEndpoint: 1,
  total: 256,
  /**
   * The maximum number of attempts that start per second in one process, unless `VALETKEY_WEBHOOK_RATE` is set. They
   * take about a fifth of its processor time; requests need the rest.
   */
  perSecond: 200,
  /** The maximum part of a response body that is read. Its content does not affect the delivery. */
  responseBytes: 64 * KIB,
  /** The maximum part of a response body that is stored with the attempt. */
  storedResponseBytes: 2 * KIB,
  /** The maximum number of deliveries that one transaction queues again. */
  redeliveredRows: 100,
  /**
   * The maximum number of deliveries that one transaction reads to find those to queue again. Deliveries that are too
   * old or still waiting are skipped.
   */
  redeliverySlice: 1_000,
  /** The longest duration of one attempt of the job that queues deliveries again. */
  redeliveryMs: 5 * MINUTE,
} as const;

/** The audit log. */
export const AUDIT = {
  /** Entries that an export reads at a time. */
  exportedRows: 200,
  /**
   * The maximum number of concurrent requests of one environment that read its whole log: each takes seconds of
   * processor time for a million entries.
   */
  readers: 2,
} as const;

/** Streams of events (server-sent events). */
export const EVENT_STREAM = {
  /** The maximum number of streams of one environment. Each occupies a connection. */
  perEnvironment: 100,
  /** Events that are read from the database at a time. The body of one event can have 70 KiB. */
  rows: 20,
  /**
   * How long a stream waits for an event of the process that serves it. After this time, it reads the events of other
   * processes, and shows the client that the connection still works.
   */
  pollMs: 5 * SECOND,
  /** A stream ends after this time. Its client then opens another one with a valid token. */
  longestMs: 10 * MINUTE,
} as const;

/** Configuration that operator commands change in another process, so that it must be read again. */
export const RELOAD = {
  /** How long the content of the key file is cached. */
  keyFileMs: 250,
  /** How long the host names and settings of an environment are cached. */
  environmentMs: 5 * SECOND,
  /**
   * How long an encryption key must be active before an older one can be removed. By then, requests that started with
   * the older key have ended.
   */
  settledKeyMs: MINUTE,
} as const;

/** Limits of the data that is sent to an OpenTelemetry collector. */
export const TELEMETRY = {
  /**
   * The maximum number of spans, and of log records, that wait for the collector. Further ones are dropped. Each has
   * about 1 KiB.
   */
  queued: 8_192,
  batch: 512,
  delayMs: 2 * SECOND,
  exportMs: 10 * SECOND,
  /** How long a stopping server waits for the collector to accept the queued data. */
  stopMs: 3 * SECOND,
} as const;

/** The processes that serve a database. */
export const INSTANCE = {
  /** How long a starting server waits for the previous one to end. It is longer than a server may take to stop. */
  lockWaitMs: 20 * SECOND,
  /** The pause between two attempts to take the lock. */
  lockPauseMs: 50,
  /** How often a server checks that its lock file still exists. */
  lockCheckEveryMs: SECOND,
  beatEveryMs: 5 * SECOND,
  /** If several instances use a database, how often each corrects its clock by the clock of the database. */
  clockEveryMs: 5 * SECOND,
  /** If several instances use a database, one that has not reported for this time is considered ended. */
  silentMs: 15 * SECOND,
} as const;

/** The processes of one server, which a parent starts (`valetkey serve --processes`). */
export const PROCESSES = {
  most: 64,
  /** The pause before a process that ended is started again. It doubles with each further end in a row (`steadyMs`). */
  firstDelayMs: 500,
  longestDelayMs: 30 * SECOND,
  /** If a process was ready for at least this time before it ended, its ends in a row are counted from 1 again. */
  steadyMs: MINUTE,
  /**
   * After one process has ended so many times in a row, the parent stops the server, unless the server has been ready
   * and another process works. Before the server was ready, the parent stops it as soon as a process reports why it
   * cannot start.
   */
  failedStarts: 5,
  /**
   * A process that is asked to stop is killed when it takes this much longer than the configured delay of the shutdown
   * and the time for running requests (`SERVER.drainMs`).
   */
  stopMarginMs: 10 * SECOND,
  /**
   * A signal that arrives later than this after the first one kills the processes. An earlier one is ignored, because
   * npm and terminals send the same signal twice.
   */
  sameSignalMs: SECOND,
  /** How long a request for the metrics of the server waits for those of one process. */
  metricsMs: 3 * SECOND,
} as const;

/** Limits of the PostgreSQL engine. */
export const POSTGRES = {
  /**
   * The maximum number of rows of a long list that one statement reads, which takes about 50 ms. A PostgreSQL statement
   * does not block the event loop.
   */
  largestSlice: 65_536,
  /** Connections of one process for reads. Each runs many statements concurrently. */
  readers: 4,
  /** Connections of one process for writes, which is the number of concurrent transactions. */
  writers: 8,
  /**
   * Units of work whose writes do not depend on what they read can share a transaction. These are the maximum number of
   * concurrent shared transactions, and the maximum number of units in each.
   */
  sharedTransactions: 2,
  sharedUnits: 64,
  /** How long a statement of a shared transaction waits for a lock. Then each unit runs in its own transaction. */
  sharedLockMs: 100,
  connectMs: 5 * SECOND,
  /** The minimum time between a failed attempt to connect and the next attempt. */
  reconnectMs: 200,
  /**
   * PostgreSQL cancels a statement that takes longer than `statementMs` or waits for a lock longer than `lockMs`. It
   * ends a session whose transaction is idle for longer than `idleMs`.
   */
  statementMs: 15 * SECOND,
  lockMs: 5 * SECOND,
  idleMs: 15 * SECOND,
  /** How long a unit of work is retried after conflicts with other transactions. */
  rerunMs: 10 * SECOND,
  /** From this attempt on, a unit of work runs while no other unit runs. */
  aloneFromRun: 4,
  /** How long a unit of work that must run alone waits for the others to end. Meanwhile, new units wait for it. */
  aloneWaitMs: 500,
  /**
   * The second attempt follows without a pause. The pause before the third one is random, and at most this long. The
   * maximum doubles with each further attempt, up to `aloneWaitMs`.
   */
  rerunPauseMs: 5,
  /** How long and how often the outcome of a commit is requested after its connection was lost. */
  outcomeMs: 10 * SECOND,
  outcomePauseMs: 200,
  /**
   * A migration waits this long for a lock, because all transactions that come after it wait, too. Then it is tried
   * again, after a pause.
   */
  migrationLockMs: 2 * SECOND,
  migrationAttempts: 30,
  migrationPauseMs: SECOND,
  /** How often a process that waits for the migrations of another one looks whether they have ended. */
  migrationTurnMs: 200,
  /** The lag of a replica above which lists are read from the primary, and how often it is checked. */
  replicaLagMs: 10 * SECOND,
  replicaCheckMs: SECOND,
  /** How often the connection that receives notifications of changed settings is checked, and opened if it was lost. */
  listenCheckMs: 5 * SECOND,
} as const;

/** The database file and its log. Frames of the log are pages of 4 KiB. */
export const STORAGE = {
  /** How long a write waits for another process's lock before it is rejected. */
  lockWaitMs: 5 * SECOND,
  /** The maximum number of units of work in one transaction. */
  groupUnits: 256,
  /** A transaction starts no further unit after its units have taken this time, because they block the event loop. */
  groupMs: 10,
  /**
   * Rows that a large transaction reads or writes before other work can run. For rows of tools, this takes about 5 ms.
   */
  rowsPerTurn: 250,
  /**
   * Tools that a large transaction deletes before other work can run. Each is overwritten in the table and in four
   * indexes.
   */
  deletionsPerTurn: 50,
  /** How long deletions are collected before the database file is scrubbed for all of them. */
  scrubDelayMs: 500,
  /**
   * The pause between two attempts while another process blocks the scrub. Together with the delay, deleted data is
   * removed within a second.
   */
  scrubRetryMs: 250,
  /** The maximum time until deleted data is scrubbed, if no other process blocks it. */
  scrubbedMs: SECOND,
  /** How long a stopping server retries the scrub. */
  scrubAtStopMs: SECOND,
  /**
   * How often a test write is made after a write has failed. The server is ready again after a whole interval without a
   * failure.
   */
  probeEveryMs: SECOND,
  /** When so many frames of the log are not in the main file yet, a step moves them. */
  pieceFrames: 1024,
  /** From this length on, the log is moved completely, so that it starts again from the beginning. */
  logFrames: 8192,
  /** When at most this many frames are left, the last step moves them. */
  lastPieceFrames: 128,
  /** From this number of frames on, a thread moves the log, so that the event loop is not blocked. */
  backlogFrames: 4096,
  /** At a start, files up to this size are checked page by page. */
  checkedAtStartBytes: 16 * MIB,
  /** How often the durable state is recorded outside of the log while there are writes. */
  markEveryMs: 100,
  /** The file with these records is synced after this many records. */
  markSyncEvery: 50,
} as const;

/** Limits of the data that one account or environment may store. */
export const STORED = {
  /**
   * The maximum number of custom providers of one environment, and the total size of their definitions: lists and
   * searches read all of them.
   */
  providers: 1_000,
  providersBytes: 4 * MIB,
  /**
   * The maximum number of connections of one environment, and the total size of their settings: lists and searches read
   * all of them.
   */
  connections: 5_000,
  connectionsBytes: 4 * MIB,
  /**
   * The maximum number of MCP configs of one environment, and the total size of their mappings: deleting a connection
   * or a tool reads all of them.
   */
  mcpConfigs: 1_000,
  mcpConfigsBytes: 4 * MIB,
  /** The maximum number of clients of MCP servers that the operators of one environment have created. */
  mcpClients: 5_000,
  /**
   * The maximum number of enabled API clients of one environment, and of disabled ones. A disabled client cannot be
   * used, so beyond the limit the client that was disabled first is removed.
   */
  apiClients: 5_000,
  disabledApiClients: 5_000,
  /**
   * The maximum number of tools of one environment that were created, imported or read from MCP servers: their names
   * are read together, and all are indexed for searches.
   */
  tools: 20_000,
  /**
   * The maximum number of tool overlays of one environment, and their total size: each list of tools reads all of them.
   */
  toolOverlays: 500,
  toolOverlaysBytes: MIB,
  toolOverlayBytes: 16 * KIB,
  /** `api_config` of an account, which is for settings, not for documents. */
  apiConfigBytes: 64 * KIB,
  apiConfigKeys: 512,
  apiConfigLevels: 16,
  /**
   * The maximum size of the responses that are stored for the idempotency keys of one client, compressed and encrypted.
   * At this limit, further keys are stored without their response.
   */
  keptRepliesBytes: 64 * MIB,
  /** The size that is counted for a key without its response: its digests and index entries. */
  idempotencyKeyBytes: 256,
  /**
   * The maximum size of the idempotency keys of one client, including their responses: enough for a million keys
   * without responses. At this limit, requests with further keys are rejected.
   */
  idempotencyBytes: 256 * MIB,
  /** The maximum total size of the stored files of one environment. Files are created by tools and expire. */
  filesBytes: GIB,
  /** The maximum total size of the stored files that one call sends; a file that the input names twice counts twice. */
  callFilesBytes: 32 * MIB,
  /** The maximum size of the stored request, and of the stored response, of an execution; longer ones are truncated. */
  contentsPartBytes: 16 * KIB,
  /**
   * The maximum number of steps (requests, waits and refreshes) that the stored contents of an execution list; later
   * ones are left out.
   */
  executionSteps: 100,
  /** The maximum number of steps in the record of an execution whose contents are not stored. */
  bareExecutionSteps: 20,
} as const;

/** The words by which searches find tools. Built-in tools have at most 70, and together 2,350 different ones. */
export const TOOL_WORDS = {
  /**
   * The maximum number of different words of one tool. Words of its name are taken first, words of its inputs and
   * examples last.
   */
  perTool: 200,
  /**
   * The maximum number of different words in one search index, such as that of an environment's own tools. Once it is
   * reached, new words are not indexed, so searches do not find tools by them.
   */
  perIndex: 100_000,
  /**
   * Indexed words with which an unknown word of a query is compared, to find completions and to correct a misspelling.
   * Real vocabularies have fewer words with the same first letter.
   */
  compared: 10_000,
} as const;

/** Calls to third parties (threat E4). */
export const OUTBOUND = {
  /**
   * The longest duration of one call from start to end: waiting for a slot, connecting, every redirect, the whole body.
   */
  timeoutMs: 30 * SECOND,
  /** The longest time without data after a response has begun. */
  idleTimeoutMs: 10 * SECOND,
  /** The longest time for name resolution, connection and TLS handshake together. */
  connectTimeoutMs: 10 * SECOND,
  /** The body, both compressed and decompressed. */
  maxBytes: 10 * MIB,
  /** Header section of a response. */
  maxHeaderBytes: 64 * KIB,
  /** The maximum number of chunks of one body: each costs processing time, even if it is small. */
  maxChunks: 2 ** 18,
  /** The maximum number of interim responses (1xx) before the final response of a call. */
  maxInterim: 16,
  /** Decompressed size as a multiple of the compressed size. More is a decompression bomb. */
  maxRatio: 100,
  /** The ratio is checked from this decompressed size on, because short texts compress very well. */
  ratioFloorBytes: MIB,
  /** Redirects that one call may follow, if it follows redirects at all. */
  maxRedirects: 3,
  /**
   * The maximum number of concurrent calls to one origin, so that a slow provider does not take every connection
   * (threat E11).
   */
  callsPerOrigin: 64,
  /** The maximum number of calls to one origin that wait until fewer than `callsPerOrigin` are running. */
  queuePerOrigin: 256,
  /**
   * The maximum number of streams from one origin; their calls no longer occupy a slot. If there are more, the stream
   * that has waited longest for its reader is ended.
   */
  streamsPerOrigin: 512,
  /** Idle connections that are kept for later calls, of all origins together. */
  keptConnections: 128,
  /** The maximum time that a server's keep-alive header can request. */
  keptConnectionMs: MINUTE,
  /**
   * After so many consecutive calls without a response, calls to the origin are rejected for a pause. A response with
   * any status ends the count.
   */
  breakerFailures: 5,
  /**
   * The first pause of a failing origin. After each pause one call tests the origin; if it fails, the next pause is
   * twice as long.
   */
  breakerPauseMs: 5 * SECOND,
  /** The longest pause. */
  breakerMaxPauseMs: MINUTE,
  /**
   * A call whose response is streamed to the caller. Its limits are higher, because downloads take longer than other
   * calls.
   */
  streamTimeoutMs: 5 * MINUTE,
  streamMaxBytes: 100 * MIB,
  /** One protocol call: token, discovery, revocation, identity. */
  protocolTimeoutMs: 15 * SECOND,
  protocolMaxBytes: MIB,
} as const;

/** DNS lookups of third-party host names. Each environment has its own running, waiting and cached lookups. */
export const DNS = {
  /** One lookup from start to end, including all name servers. */
  timeoutMs: 5 * SECOND,
  /** How long to wait for one name server before asking it again or asking the next one. */
  tryMs: 1_500,
  /** The maximum number of requests to each name server for one question. */
  tries: 2,
  /** How long to wait for IPv6 addresses after the IPv4 addresses have arrived. */
  secondFamilyMs: 300,
  /** The maximum number of concurrent lookups: each has a socket. */
  lookups: 64,
  /** The maximum number of lookups that wait until fewer than `lookups` are running. */
  queuedLookups: 256,
  /** How long a failed lookup is cached. Short, so that a newly registered name is usable soon. */
  failedLookupMs: 5 * SECOND,
  /** The maximum number of cached failures. */
  failedLookups: 1_000,
  /**
   * Addresses of one name. A name with more is rejected, because each address must be checked and the owner of the name
   * controls their number.
   */
  addresses: 64,
  /** Addresses of one family that are tried. */
  triedPerFamily: 4,
} as const;

/** `tool_input` of one call (threat E12). */
export const TOOL_INPUT = {
  /** Size as JSON, before defaults are filled in. */
  bytes: 256 * KIB,
  /** Size with the defaults of the schema: a default in a list is filled into every item. */
  filledBytes: MIB,
  levels: 32,
  /** `cursor`: a provider's own cursor with the data that Valetkey adds. */
  cursorLength: 8 * KIB,
} as const;

/** Schemas of tools from clients, OpenAPI documents and MCP servers (threat E12). */
export const SCHEMA = {
  /** Objects and lists in the schema as written. */
  nodes: 20_000,
  levels: 64,
  /**
   * The size of one tool schema from a client, as JSON. Lists convert it for models, which takes milliseconds for this
   * size.
   */
  bytes: 64 * KIB,
  /**
   * The maximum number of subschemas and literals after every reference is expanded: 20 definitions with two references
   * each can expand to a million.
   */
  expanded: 20_000,
  /** Schemas that reference each other in a chain; a longer chain would overflow the stack of the compiler. */
  chain: 500,
  /** For inputs up to this size all errors are listed; for a larger input only the first one. */
  thoroughNodes: 2_000,
  /** Steps that the regular expressions of one check on the event loop may take together: about 30 ms. */
  patternSteps: 1_000_000,
  /**
   * A schema with a larger expanded size is compiled in a thread, because compiling takes 0.1 ms for each subschema.
   */
  inlineExpanded: 200,
  /**
   * An input is checked in a thread if the number of its nodes, multiplied by the expanded size of its schema, exceeds
   * this value.
   */
  inlineWork: 500_000,
  /** Checking a tool definition in a thread: compiling its schemas and checking its examples. */
  validateMs: 10 * SECOND,
  /** Validating one input in a thread: its longest duration, and the steps of its patterns. */
  checkMs: 2 * SECOND,
  threadPatternSteps: 10_000_000,
} as const;

/** The request of one tool execution, rendered from a template and an input of at most 256 KiB. */
export const TOOL_REQUEST = {
  /** Characters of the address including its query: servers commonly reject longer ones (RFC 9110 §4.1). */
  addressChars: 8000,
  /** The body, including its files. */
  bodyBytes: 32 * MIB,
  /** Values in the body. */
  nodes: 200_000,
  /** The Markdown that one request converts to HTML: more could occupy the event loop for more than 50 ms. */
  markdownChars: 25_000,
  /** Stored files that one input may name. */
  files: 20,
} as const;

/** Refreshes and other token requests that the server makes itself (threat R8). */
export const REFRESH = {
  /**
   * Concurrent refreshes in total. One provider of an environment may use as many as are still free: half of them if it
   * is the only one.
   */
  total: 64,
  /** Concurrent refreshes of one provider and environment: initially, and at most. */
  first: 8,
  most: 32,
  /** Refreshes of one provider and environment that may wait. */
  waiting: 1_000,
  /** The longest wait for a slot: callers give up after about 30 s. */
  waitMs: 20 * SECOND,
  /**
   * How long a lease (the right of one process to refresh an account) blocks other processes if its holder has stopped.
   * It is longer than any token request.
   */
  leaseMs: 30 * SECOND,
  /** How long a caller without a valid token waits for a refresh in another process. */
  patienceMs: 20 * SECOND,
  /** How long a caller whose token is still valid waits for a refresh, before it continues with that token. */
  shortPatienceMs: SECOND,
} as const;

/** The result of one tool execution. */
export const TOOL_RESULT = {
  /** The maximum size of `data` as JSON: what clients of models accept in one response. */
  dataBytes: 80 * KIB,
  /** The maximum size of `upstream_body` in the result of a failed call. */
  errorBodyBytes: 64 * KIB,
  /**
   * How often one request of a tool is sent at most, including repetitions after an error or a refresh (threat E10).
   * Each step of a tool and each page of `all_pages` is a separate request.
   */
  requests: 3,
  /** From the first request of an execution to the last byte of its last response; for `all_pages`, for each page. */
  deadlineMs: 30 * SECOND,
  /** The longest wait before a retry; if the provider asks for a longer one, the caller must retry. */
  retryWaitMs: 5 * SECOND,
  /**
   * `all_pages`: the number of pages, their total size as JSON (the first page may be larger), and the time after which
   * no further page is requested.
   */
  pages: 50,
  pagesBytes: MIB,
  pagesMs: 20 * SECOND,
} as const;

/** Reading responses to tool calls (threat S3). OUTBOUND limits their size. */
export const RESPONSE = {
  /** A larger body is read in a thread. */
  inlineBytes: 64 * KIB,
  /** JSON with more values is parsed in a thread: each value takes microseconds to parse, search and measure. */
  inlineNodes: 4_000,
  /** JSON with more values is not parsed: a result becomes a file, a failure is returned as text. */
  nodes: 200_000,
  levels: 200,
  /** Reading one response in a thread. */
  readMs: 5 * SECOND,
  /**
   * `places`: the responses of one environment that are being read in a thread or wait for one. `waiting`: the
   * responses of all environments that wait for a thread. Their bytes are counted in BODIES.
   */
  places: 128,
  waiting: 1_024,
} as const;

/** Threads that process third-party data, so that it never blocks the event loop (threat S3). */
export const THREADS = {
  /** Two threads, so that the slow work of one tenant leaves a thread to the others. */
  threads: 2,
  /** Heap of one thread. */
  heapBytes: 192 * MIB,
  /** A thread ends after this time without work, which frees its memory. */
  idleMs: MINUTE,
  /** The maximum number of running and waiting tasks of one environment. */
  places: 32,
  /** The maximum number of waiting tasks of all environments together. */
  waiting: 256,
  /** The maximum number of input bytes of running and waiting tasks: of one environment, and of all environments. */
  tenantBytes: 32 * MIB,
  bytes: 64 * MIB,
} as const;

/** Imports of OpenAPI documents, which run in a separate thread. */
export const IMPORT = {
  /** One import from start to end. */
  timeMs: 30 * SECOND,
  /** Heap of the thread, which runs one import at a time. */
  heapBytes: 768 * MIB,
  /** The maximum number of running and waiting imports of one environment. */
  places: 2,
  /** For all environments: the waiting imports, and the bytes of the documents of running and waiting imports. */
  waiting: 16,
  bytes: 64 * MIB,
  /** Nodes that all overlays of one import together may visit, compare or copy. */
  overlayNodes: 5_000_000,
  /** Steps of the patterns in `match()` and `search()` functions of overlays: about a second. */
  patternSteps: 20_000_000,
} as const;

/** The MCP servers that Valetkey provides. */
export const MCP_SERVER = {
  /**
   * A session of MCP revision 2025-11-25. A long session is harmless, because every request must contain its token, and
   * clients recover badly when a session ends.
   */
  sessionMs: 30 * DAY,
  /** The maximum number of stored ids of sessions that clients have ended; requests with such an id are rejected. */
  endedSessions: 10_000,
  /**
   * Open streams that wait for server messages, in one process: of one user's client at one MCP server, and of one
   * environment.
   */
  streamsOfUser: 16,
  streamsOfEnvironment: 1_000,
  /** The lifetime of an open stream; its client then opens another one. */
  streamMs: 10 * MINUTE,
  /** Tools in one response to tools/list. */
  toolsPerPage: 250,
  /**
   * Listed tools of a connection, unless an MCP config sets another number. Models choose worse when they see more
   * tools.
   */
  listedTools: 40,
  /** Tools that a search over MCP returns by default, and at most. */
  toolsFound: 5,
  mostToolsFound: 20,
  /** Resources or prompts in one response, after which no further page of a third-party server is read. */
  contentsPerPage: 250,
  contentsBytes: MIB,
  /** No further page is read after this time; the client continues with the cursor. */
  contentsMs: 20 * SECOND,
  /** How often watched lists are compared, to notice what other processes have changed. */
  listChecksMs: 10 * SECOND,
  /** How long clients may cache a list. It changes only with settings, and each call is checked separately. */
  listMs: MINUTE,
  /**
   * How long a call that the client repeats waits for its user to connect an account. Clients give up a request after
   * 60 s.
   */
  waitForUserMs: 25 * SECOND,
} as const;

/** The portal, in which users manage their accounts. */
export const PORTAL = {
  /** The lifetime of a one-time URL, to which the application redirects the browser immediately. */
  urlMs: 10 * MINUTE,
  /** The lifetime of a session after its URL was opened. */
  sessionMs: HOUR,
  /** The maximum number of accounts, of connections and of MCP clients that a portal lists. */
  rows: 100,
  /** The maximum number of accounts, and of grants, that are read to find those of one user. */
  read: 1_000,
  /**
   * The maximum number of accounts (those used last) whose calls a portal lists, and the maximum number of calls in
   * total.
   */
  accountsWithCalls: 5,
  calls: 10,
};

/** Logins of users for clients of our MCP servers, and the grants of users (threats A1 to A12). */
export const MCP_LOGIN = {
  /** The time from the authorization request of a client to the consent of the user, or for a login at a provider. */
  loginMs: 10 * MINUTE,
  /** The lifetime of an authorization code, which its client exchanges immediately. */
  codeMs: MINUTE,
  /** How long an exchanged code is stored, to detect its second use. */
  spentMs: HOUR,
  /**
   * The lifetime of an access token, and of a grant without a refresh token. The grant is read with every request, so a
   * revoked grant ends immediately. The lifetime determines how often clients refresh or, without a refresh token, how
   * often users log in.
   */
  accessTokenMs: 15 * MINUTE,
  /** The lifetime of an unused grant. */
  grantIdleMs: 30 * DAY,
  /** The maximum lifetime of a grant. */
  grantMs: 365 * DAY,
  /**
   * A refresh token that was replaced within this time is exchanged for the current one, because clients refresh
   * concurrently and lose responses.
   */
  graceMs: 10 * MINUTE,
  /** The grace period of the last replaced token, while its successor has not been used. */
  unusedGraceMs: HOUR,
  /** The maximum number of replaced refresh tokens of a grant for which the time of replacement is stored. */
  retired: 8,
  /** The maximum number of unfinished logins of an environment. */
  openLogins: 10_000,
  /**
   * The maximum number of logins that one client address can begin in the lifetime of a login. The users of a company
   * can share an address.
   */
  loginsOfAddress: 500,
  /**
   * Grants of a user at one server. A new grant beyond this number ends the one that has been unused for the longest
   * time.
   */
  grantsOfUser: 50,
  /** The size of a document that describes a client, as the standard recommends. */
  documentBytes: 5 * KIB,
  documentMs: 5 * SECOND,
  /**
   * The maximum number of cached documents, and how long they are cached: the shortest time, the time if the response
   * names none, and the longest time.
   */
  documents: 200,
  documentLeastMs: 30 * SECOND,
  documentKeptMs: 5 * MINUTE,
  documentMostMs: DAY,
  /** Concurrent requests for documents. */
  fetches: 16,
  /** The maximum number of redirect URIs of one client, and the maximum length of each. */
  redirectUris: 20,
  redirectUriChars: 2048,
  /** The maximum length of a client's `state`. */
  stateChars: 2048,
  /** The maximum length of a client's name; longer names are truncated. */
  nameChars: 60,
  /** Clients that can register themselves from one address in an hour. */
  registrations: 60,
  registrationsMs: HOUR,
  /**
   * The maximum length of an access token of an external authorization server, and the maximum number of its audiences
   * that are compared.
   */
  jwtChars: 8 * KIB,
  jwtAudiences: 20,
  /**
   * The maximum number of cached key sets of external authorization servers, and how long they are cached. Each
   * environment has its own entries.
   */
  keySets: 500,
  keySetMs: 5 * MINUTE,
  /** For a token with an unknown key, the keys are read again if they are at least this old. */
  keySetLeastMs: MINUTE,
  /**
   * The maximum number of clients of an environment that registered themselves and have not been used. They are removed
   * after a day.
   */
  unusedClients: 10_000,
  unusedClientMs: DAY,
  /**
   * The maximum number of clients of an environment that registered themselves and have been used. At the limit, each
   * registration deletes some without a grant, and is rejected if there are none.
   */
  usedClients: 5_000,
  /**
   * Used clients without a grant that one registration deletes. More than one, so that their number falls below the
   * limit even if other clients were used meanwhile.
   */
  replacedClients: 5,
} as const;

/** MCP servers that Valetkey uses as providers (threats P6, S3). */
export const MCP_UPSTREAM = {
  /**
   * The longest time of a call without progress, unless the connection has its own setting. Progress notifications
   * restart it.
   */
  callMs: MINUTE,
  /** A call from start to end, including progress notifications. */
  longestCallMs: 5 * MINUTE,
  /** The maximum time to open a session, and to read one page of a list. */
  requestMs: 30 * SECOND,
  /** The request without a token that shows how a server is protected. */
  challengeMs: 5 * SECOND,
  /** One response: its messages, its events and everything between them. */
  responseBytes: 2 * MIB,
  /** The maximum size of all pages of a list together, and the maximum number of pages. */
  listBytes: 4 * MIB,
  listPages: 100,
  /**
   * The maximum length of the cursor of a list, and of the URI of a resource. They are limited, because clients send
   * them back.
   */
  cursorChars: 2_048,
  uriChars: 2_048,
  /** Lines of one event stream: each costs processing time. */
  lines: 20_000,
  /** Messages of one response: notifications and requests of the server, and the result. */
  messages: 1_000,
  /** Objects, lists, members and items of one message. */
  messageNodes: 100_000,
  messageLevels: 64,
  /** How often one response may be resumed with another request after its stream ended early. */
  continuations: 10,
  /** The length of an event id after which a stream can be resumed: it is sent in a header. */
  eventIdChars: 1024,
  /** The minimum wait before resuming, even if the server requests a shorter one. */
  leastRetryMs: 100,
  retryMs: SECOND,
  longestRetryMs: 10 * SECOND,
  /** Tools of one server. */
  tools: 1_000,
  /** Resources or prompts on one page of a list, and contents or messages of one result. Each is copied and checked. */
  contents: 1_000,
  promptArguments: 100,
  /** Characters of a tool's description; longer ones are truncated. */
  descriptionChars: 2_000,
  /** Converting the tools of one page in a thread. If a page takes longer, its tools are converted one by one. */
  convertPageMs: 10 * SECOND,
  convertToolMs: SECOND,
  /**
   * Reading the tool list of one server from start to end. One list is read at a time, because all its tools are in
   * memory until they are stored.
   */
  syncMs: MINUTE,
  /** The maximum number of tool lists that wait to be read, of one environment and of all environments. */
  queuedSyncs: 20,
  allQueuedSyncs: 200,
  /** The age at which a list is read again from its server. */
  listAgeMs: 15 * MINUTE,
  /** The longest time for which one run reads outdated lists. The next run begins with other environments. */
  refreshListsMs: 5 * MINUTE,
  /**
   * The maximum number of sessions that are kept for later calls, and the idle time after which a session is closed.
   */
  sessions: 256,
  idleSessionMs: 5 * MINUTE,
} as const;
