/**
 * The limits and budgets of the server, in one place. The unit is part of a name: `…Bytes`, `…Ms` (milliseconds); anything else is a
 * count. Documentation that states one of these figures marks it, and a test compares the two (test/contract/figures.test.ts).
 * Types that enforce a budget are in core/budgets/. This file imports nothing.
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
  /** Header section of one request: tokens fit, a flood of headers does not. */
  headerBytes: 16 * KIB,
  /** From the first byte of a request to the end of its headers: slow senders hold connections. */
  headersMs: 10 * SECOND,
  /** From the first byte of a request to its last one. */
  requestMs: 30 * SECOND,
  /** An idle connection is closed after this time. */
  keepAliveMs: 30 * SECOND,
  /** How often connections are compared with the times above. */
  checkEveryMs: 5 * SECOND,
  /** Open connections: each takes memory and a file descriptor. */
  connections: 10_000,
  /** Open connections of one client address, unless `VALETKEY_CONNECTIONS_PER_ADDRESS` says otherwise. */
  connectionsPerAddress: 1_000,
  /** From the beginning of a connection to its first byte: one that says nothing is of no use. */
  firstByteMs: 5 * SECOND,
  /** A client that takes nothing of its response for this time is looked at again, and closed after the same time. */
  stalledMs: 15 * SECOND,
  /** Bytes of responses that may wait for all clients together. */
  queuedBytes: 64 * MIB,
  /** How often connections are compared with the three limits above. */
  watchEveryMs: 500,
  /** Requests that may wait on one connection for the response before them. */
  pipelined: 32,
  /** How long running requests may take to finish when the server stops. */
  drainMs: 10 * SECOND,
} as const;

/** Bodies of requests to the API (threat S1). */
export const REQUEST_BODY = {
  /** An operation without its own limit. */
  bytes: 256 * KIB,
  /** An import carries whole OpenAPI documents. The contract states it as `x-valetkey-max-body-bytes`. */
  importBytes: 16 * MIB,
  /** A token request: a few short parameters from clients that are not authenticated yet. The contract states it as well. */
  tokenBytes: 16 * KIB,
  /** Parameters of a token request. */
  tokenPairs: 20,
  /** Fields of a form that a page of ours sent: a connector has far fewer. */
  formPairs: 100,
  /** Parameters of a query string: an operation has far fewer. */
  queryPairs: 100,
  /** A raw call; it is sent on as it is and never parsed. */
  rawBytes: 10 * MIB,
  /** Pieces of one body, of any size: each costs time. */
  pieces: 2 ** 16,
  /** Pieces of a form, whose sender is not authenticated yet. */
  formPieces: 512,
  /** Nesting of JSON: deeper values exhaust the stack of recursive code. */
  levels: 32,
  /** Values in JSON, counted before any is built: an ordinary body cannot hold as many, an import has far fewer. */
  nodes: 200_000,
  /** JSON above this size is parsed in a thread: it would hold up the event loop. */
  threadBytes: 256 * KIB,
  /** Parsing one body in a thread. */
  parseMs: 5 * SECOND,
  /** A body up to this size is checked for every error; a larger one until the first. */
  allErrorsBytes: 16 * KIB,
} as const;

/** Problem documents: an error must not cost, or return, more than the request that caused it. */
export const PROBLEM = {
  /** Entries of `errors`. */
  errors: 20,
  /** Characters of `field`. */
  fieldChars: 256,
  /** Characters of `message`. */
  messageChars: 500,
  /** Characters of `detail`. */
  detailChars: 2000,
} as const;

/** Bodies that the process holds: of requests, of calls to third parties and of their responses (core/budgets/byte-budget.ts). */
export const BODIES = {
  /** All bodies together. An environment holds at most half of it, less when others hold much. */
  totalBytes: 256 * MIB,
  /** Reserved for the response before a call is sent, so that calls with short responses do not fail when they have taken effect. */
  firstBytes: 64 * KIB,
  /** The first bytes of a request body are not counted: the number of connections bounds them. */
  uncountedBytes: 16 * KIB,
  /** The longest wait for space. */
  waitMs: 5 * SECOND,
  /** Calls that may wait for space. */
  waiting: 2_000,
} as const;

/** How long the service keeps what it issued or stored. */
export const LIFETIME = {
  /** An access token: a leaked one is of use for this time at most. */
  accessTokenMs: HOUR,
  /** A page token: long enough to walk a list, short enough that filters and rows still fit. */
  pageTokenMs: DAY,
  /** An idempotency key and the reply kept for it: longer than any sensible retry. */
  idempotencyKeyMs: DAY,
  /** The old secret of an API client while a new one takes over, where the request says nothing else. */
  secretOverlapMs: DAY,
  /** An MCP session token, where the request says nothing else. */
  mcpSessionMs: HOUR,
  /** The default lifetime of an authorization link: long enough for mail, short because links can leak. */
  linkMs: 15 * MINUTE,
  /** A file of a tool, and its address. */
  fileMs: HOUR,
  /** Execution records where the environment says nothing else. */
  executionsMs: 90 * DAY,
  /** How a job ended, such as a revocation, can be read for this time. */
  endedJobsMs: 90 * DAY,
  /** What a failed job needs to be tried again. */
  failedJobPayloadMs: 7 * DAY,
  /** How long the server retries a revocation that the provider does not accept. */
  revocationAttemptsMs: 3 * DAY,
  /** A link that has ended: its page can still tell how it ended. */
  endedLinkMs: DAY,
} as const;

/** Lists that grow without end: one statement holds the event loop for a few milliseconds. */
export const LIST = {
  /** Rows that one statement looks at. The next statement goes on after other work had its turn. */
  slice: 2048,
  /** Matches that are counted; a list that has more has at least so many. */
  counted: 10_000,
  /** Slices that are looked at to count matches. */
  countedSlices: 50,
  /** Matches of a search that are counted. */
  countedBySearch: 1_000,
} as const;

/** Removing what has expired: one transaction holds the event loop for a few milliseconds. */
export const RETENTION = {
  /** Small rows that one transaction removes. */
  rows: 200,
  /** Sealed bytes that one transaction removes; they are overwritten on the disk. A larger row is removed by itself. */
  bytes: MIB,
  /** Between two transactions: removing takes a small part of the time and still outruns any rate of new rows. */
  pauseMs: 15,
  /** Audit records in one file of the archive. */
  auditFileRows: 10_000,
} as const;

/** Work that the server does by itself, and when it looks for it: the first time after a start, then again and again. */
export const BACKGROUND = {
  /** Between two steps of what is prepared after a start. */
  warmUpPauseMs: 5,
  /** Rows that have expired: soon after the start, so that it is not slower for what has expired in the meantime. */
  retentionFirstMs: 5 * SECOND,
  retentionMs: MINUTE,
  /** Accounts whose grant would end without a refresh. */
  keepAliveFirstMs: MINUTE,
  keepAliveMs: HOUR,
  /** How many such accounts are refreshed concurrently. Low, because this work is not urgent. */
  keepAliveAtOnce: 4,
  /** The part of the time that a grant may lie idle, in percent, after which it is refreshed: what is left is for outages of days. */
  keepAlivePercent: 80,
  /** Attempts of revocations that run concurrently at one provider of an environment. */
  revocationsPerProvider: 4,
  /** The longest attempt of a revocation: two tokens and metadata, each with the time limit of a protocol call. */
  revocationMs: 90 * SECOND,
  /** The wait after the first failed attempt of a revocation; it doubles, and up to half of it is left to chance. */
  revocationRestMs: 10 * SECOND,
  revocationLongestRestMs: HOUR,
  /** Links whose time is over. */
  linksMs: 30 * SECOND,
  /** Lists of tools of MCP servers that are too old. */
  toolListsMs: MINUTE,
  /** Times of last use, which are collected in memory. */
  usageMs: 5 * SECOND,
} as const;

/** The engine of jobs. */
export const JOBS = {
  /** How often it looks for jobs that are due. */
  lookEveryMs: SECOND,
  /** How soon it looks after a job was added: those that are added together are begun together. */
  soonMs: 50,
  /** Attempts that run concurrently, of all kinds. */
  total: 32,
  /** Lanes that one look goes through; the next one follows immediately. */
  lanesPerLook: 200,
  /** Jobs of servers that are gone, which one look frees. */
  abandonedPerLook: 100,
  /** The part of the time between two runs of a periodic job that is left to chance. */
  periodJitter: 0.1,
  /** How long a stop waits for jobs that do not end. */
  stopMs: 5 * SECOND,
  /** Jobs of a kind that the metrics count; of more they say this number. */
  counted: 10_000,
} as const;

/** Configuration that the operator's commands change in another process. */
export const RELOAD = {
  /** How long the key file is believed. */
  keyFileMs: 250,
  /** How long the host names and settings of an environment are believed. */
  environmentMs: 5 * SECOND,
  /** A key has to be active for so long before an older one can be removed: requests that began with that one have ended by then. */
  settledKeyMs: MINUTE,
} as const;

/** The database file and its log. Frames of the log are pages of 4 KiB. */
/** The processes that serve a database. */
export const INSTANCE = {
  /** A start waits so long for the server before it to end: longer than that one may take to stop. */
  lockWaitMs: 20 * SECOND,
  /** Between two attempts to become the one. */
  lockPauseMs: 50,
  beatEveryMs: 5 * SECOND,
} as const;

export const STORAGE = {
  /** A write waits so long for the lock of another process before it is rejected. */
  lockWaitMs: 5 * SECOND,
  /** Rows that a large transaction reads or writes before other work has a turn: about 5 ms of tools. */
  rowsPerTurn: 250,
  /** Tools that a large transaction deletes before other work has a turn: each is overwritten, in the table and in four indexes. */
  deletionsPerTurn: 50,
  /** Deletions collect so long before the files are scrubbed once for all of them. */
  scrubDelayMs: 500,
  /** Between two attempts while another process is in the way: together with the delay, deleted data leave within a second. */
  scrubRetryMs: 250,
  /** In all, when no other process is in the way or the last one has ended. */
  scrubbedMs: SECOND,
  /** How long the server goes on trying when it stops. */
  scrubAtStopMs: SECOND,
  /** How often a write is tried after one has failed. After a whole interval without a failure the server is ready again. */
  probeEveryMs: SECOND,
  /** So much of the log is moved into the main file in one piece. */
  pieceFrames: 1024,
  /** From this length on the log is brought to its end, after which it starts again from the beginning. */
  logFrames: 8192,
  /** How little may be left for the last piece. */
  lastPieceFrames: 128,
  /** So much and more is moved by a thread. */
  backlogFrames: 4096,
  /** A start checks files up to this size page by page. */
  checkedAtStartBytes: 16 * MIB,
  /** How often what is durable is marked outside of the log while there are writes. */
  markEveryMs: 100,
  /** The file of the marks is synced with every fiftieth. */
  markSyncEvery: 50,
} as const;

/** What one account or environment may store. */
export const STORED = {
  /** `api_config` of an account: settings, not documents. */
  apiConfigBytes: 64 * KIB,
  apiConfigKeys: 512,
  apiConfigLevels: 16,
  /** Responses kept for the idempotency keys of one client, compressed and sealed; beyond it keys are kept without them. */
  keptRepliesBytes: 64 * MIB,
  /** What a key takes without its response: its digests, and its places in indexes. */
  idempotencyKeyBytes: 256,
  /** Keys of one client and their responses; beyond it requests with further keys are rejected. About a million keys. */
  idempotencyBytes: 256 * MIB,
  /** Files of tools that one environment holds at a time. */
  filesBytes: GIB,
  /** Stored files that one call sends, each counted as often as the input names it. */
  callFilesBytes: 32 * MIB,
  /** Each part of an execution's contents; longer parts are cut. */
  contentsPartBytes: 16 * KIB,
} as const;

/** Calls to third parties (threat E4). */
export const OUTBOUND = {
  /** One call from start to end: waiting for a place, connecting, every hop, the whole body. */
  timeoutMs: 30 * SECOND,
  /** Longest silence once a response has begun. */
  idleTimeoutMs: 10 * SECOND,
  /** Name, address and handshake of one connection. */
  connectTimeoutMs: 10 * SECOND,
  /** Body, both on the wire and inflated. */
  maxBytes: 10 * MIB,
  /** Header section of a response. */
  maxHeaderBytes: 64 * KIB,
  /** Pieces of one body, of any size: each costs time. */
  maxPieces: 2 ** 18,
  /** Interim responses (1xx) before the response of a call. */
  maxInterim: 16,
  /** Inflated size as a multiple of the compressed one: more is a decompression bomb. */
  maxRatio: 100,
  /** The ratio counts from this inflated size on: small texts compress very well. */
  ratioFloorBytes: MIB,
  /** Redirects that one call may follow, where it follows any. */
  maxRedirects: 3,
  /** Calls under way to one origin, so that a slow provider does not take every connection (threat E11). */
  callsPerOrigin: 64,
  /** Calls that may wait for one of these places. */
  queuePerOrigin: 256,
  /** Streams from one origin, whose calls have given their places back. Beyond it the one ends that has waited longest for its reader. */
  streamsPerOrigin: 512,
  /** Idle connections that are kept for the next call, to all origins together. */
  keptConnections: 128,
  /** The longest time that a server may ask for its connection to be kept. */
  keptConnectionMs: MINUTE,
  /** Failures in a row after which an origin is left alone. */
  breakerFailures: 5,
  /** The first pause of an origin that failed; it doubles. */
  breakerPauseMs: 5 * SECOND,
  /** The longest pause. */
  breakerMaxPauseMs: MINUTE,
  /** A response that is passed on as it arrives: downloads take longer than calls. */
  streamTimeoutMs: 5 * MINUTE,
  streamMaxBytes: 100 * MIB,
  /** One protocol call: token, discovery, revocation, identity. */
  protocolTimeoutMs: 15 * SECOND,
  protocolMaxBytes: MIB,
} as const;

/** Host names of third parties. The limits of lookups hold for each environment. */
export const DNS = {
  /** One lookup from start to end, including all name servers. */
  timeoutMs: 5 * SECOND,
  /** The wait for one name server, before it is asked again or the next one is. */
  tryMs: 1_500,
  /** Requests to each name server. */
  tries: 2,
  /** How much longer than for IPv4 addresses to wait for IPv6 addresses. */
  secondFamilyMs: 300,
  /** Concurrent lookups: each has a socket. */
  lookups: 64,
  /** Lookups that may wait for one of these places. */
  queuedLookups: 256,
  /** How long a failed lookup is remembered: a name that was just registered must be usable soon. */
  failedLookupMs: 5 * SECOND,
  /** The most failed lookups that are remembered. */
  failedLookups: 1_000,
  /** Addresses of one name: each is judged, and none would be reached when many share the time to connect. */
  addresses: 64,
  /** Addresses of one family that are tried. */
  triedPerFamily: 4,
} as const;

/** `tool_input` of one call (threat E12). */
export const TOOL_INPUT = {
  /** As JSON, before defaults are filled in. */
  bytes: 256 * KIB,
  /** With the defaults of the schema: a default in a list is filled into every item. */
  filledBytes: MIB,
  levels: 32,
  /** `cursor`: a provider's own cursor and what the service adds. */
  cursorLength: 8 * KIB,
} as const;

/** Schemas of tools that clients, documents and MCP servers bring (threat E12). */
export const SCHEMA = {
  /** Objects and lists that are written down. */
  nodes: 20_000,
  levels: 64,
  /** Subschemas and literals, every reference followed: two references in each of 20 definitions make a million. */
  expanded: 20_000,
  /** Schemas that lead to each other, before the stack of the compiler is used up. */
  chain: 500,
  /** All errors of an input are listed up to this many nodes; a larger one is told its first error. */
  thoroughNodes: 2_000,
  /** Steps of all patterns of one check on the event loop: 30 ms. */
  patternSteps: 1_000_000,
  /** Schemas and inputs beyond these are compared in a thread: compiling takes 0.1 ms for each subschema. */
  inlineExpanded: 200,
  /** Nodes of the input times expanded size of the schema. */
  inlineWork: 500_000,
  /** Judging a tool in a thread: its schemas are compiled, and its examples checked. */
  judgeMs: 10 * SECOND,
  /** One check in a thread, and the steps of its patterns. */
  checkMs: 2 * SECOND,
  threadPatternSteps: 10_000_000,
} as const;

/** The request of one tool execution, as it is rendered from a template and an input of at most 256 KiB. */
export const TOOL_REQUEST = {
  /** Characters of the address with its query: servers commonly refuse more (RFC 9110 §4.1). */
  addressChars: 8000,
  /** Body with the files in it. */
  bodyBytes: 32 * MIB,
  /** Values in the body. */
  nodes: 200_000,
  /** Stored files that one input may name. */
  files: 20,
} as const;

/** Refreshes of tokens, and other requests for tokens that the server makes by itself (threat R8). */
export const REFRESH = {
  /**
   * Concurrent refreshes in total. One provider of one environment gets as many as are still free, so half of them if it is the
   * only one.
   */
  total: 64,
  /** Concurrent refreshes of one provider and environment: at the start, and at most. */
  first: 8,
  most: 32,
  /** Refreshes of one provider and environment that may wait. */
  waiting: 1_000,
  /** The longest wait for a place: callers give up after some 30 s. */
  waitMs: 20 * SECOND,
  /** How long a lease keeps others out when its holder is gone; longer than any token request takes. */
  leaseMs: 30 * SECOND,
  /** How long a caller without a valid token waits for a refresh in another process. */
  patienceMs: 20 * SECOND,
  /** How long a caller with a token that is still valid waits for any refresh, before it goes on with the token it has. */
  shortPatienceMs: SECOND,
} as const;

/** The result of one tool execution. */
export const TOOL_RESULT = {
  /** `data` as JSON: what a model's client takes in one piece. */
  dataBytes: 80 * KIB,
  /** `upstream_body` of a failure. */
  errorBodyBytes: 64 * KIB,
  /** Requests of one execution, including retries and refreshes (threat E10). */
  requests: 3,
  /** From the first request of an execution to the last byte of its last response. */
  deadlineMs: 30 * SECOND,
  /** The longest wait before a further request; a longer one is the caller's. */
  retryWaitMs: 5 * SECOND,
  /** `all_pages`: pages, their JSON together, and the time after which no further page is requested. */
  pages: 50,
  pagesBytes: MIB,
  pagesMs: 20 * SECOND,
} as const;

/** Reading responses to tool calls (threat S3). They are at most as long as OUTBOUND says. */
export const RESPONSE = {
  /** A longer body is read in a thread. */
  inlineBytes: 64 * KIB,
  /** JSON with more values is parsed in a thread: each takes microseconds to parse, look through and measure. */
  inlineNodes: 4_000,
  /** JSON with more values is not parsed: a result becomes a file, a failure is shown as text. */
  nodes: 200_000,
  levels: 200,
  /** Reading one response in a thread. */
  readMs: 5 * SECOND,
  /** Responses of one environment, and of all, that are read or wait for it. Their bytes are part of BODIES. */
  places: 128,
  waiting: 1_024,
} as const;

/** Work on foreign data that is done in threads, so that it never holds up the event loop (threat S3). */
export const THREADS = {
  /** Threads for checks and large responses: one tenant's slow work leaves a thread to the others. */
  threads: 2,
  /** Heap of one thread. */
  heapBytes: 192 * MIB,
  /** A thread ends after this time without work, and its memory is free again. */
  idleMs: MINUTE,
  /** Jobs of one environment, running and waiting. */
  places: 32,
  /** Jobs of all environments that wait. */
  waiting: 256,
  /** Inputs of the jobs of one environment, and of all. */
  tenantBytes: 32 * MIB,
  bytes: 64 * MIB,
} as const;

/** Imports of OpenAPI documents, which have their own thread. */
export const IMPORT = {
  /** One import from start to end. */
  timeMs: 30 * SECOND,
  /** Heap of the thread. One import runs at a time. */
  heapBytes: 768 * MIB,
  /** Imports of one environment, running and waiting. */
  places: 2,
  /** Imports of all environments that wait, and the documents of all. */
  waiting: 16,
  bytes: 64 * MIB,
  /** Nodes that all overlays of one import may visit, compare or copy. */
  overlayNodes: 5_000_000,
  /** Steps of the patterns in their `match()` and `search()`: about a second. */
  patternSteps: 20_000_000,
} as const;

/** Our MCP servers. */
export const MCP_SERVER = {
  /** A session of the revision 2025-11-25. It grants nothing, every request brings its token, and clients recover badly from its end. */
  sessionMs: 30 * DAY,
  /** Ids of sessions that clients have ended, which are refused from then on. */
  endedSessions: 10_000,
  /** Streams that wait for messages of a server: those of one user, and of one environment. */
  streamsOfUser: 16,
  streamsOfEnvironment: 1_000,
  /** Tools in one response to tools/list. */
  toolsPerPage: 250,
  /** How long clients may keep a list. It changes with settings only, and each call is judged when it is made. */
  listMs: MINUTE,
  /** How long a repeated call waits for its user: well below the 60 s after which clients give up a request. */
  waitForUserMs: 25 * SECOND,
} as const;

/** MCP servers that are providers (threats P6, S3). */
export const MCP_UPSTREAM = {
  /** Silence of a call, where its connection says nothing else. Progress starts the time again. */
  callMs: MINUTE,
  /** A call from start to end, however much progress it reports. */
  longestCallMs: 5 * MINUTE,
  /** Opening a session, and reading one page of a list. */
  requestMs: 30 * SECOND,
  /** The request without a token that shows how a server is protected. */
  challengeMs: 5 * SECOND,
  /** One response: its messages, its events and everything between them. */
  responseBytes: 2 * MIB,
  /** All pages of a list. */
  listBytes: 4 * MIB,
  listPages: 100,
  /** Lines of one event stream: each costs time. */
  lines: 20_000,
  /** Messages of one response. All but the last are notifications. */
  messages: 1_000,
  /** Objects, lists, members and items of one message. */
  messageNodes: 100_000,
  messageLevels: 64,
  /** Times that one response is continued with another request, after its stream has ended early. */
  continuations: 10,
  /** The wait before that, regardless of the server's retry time. */
  leastRetryMs: 100,
  retryMs: SECOND,
  longestRetryMs: 10 * SECOND,
  /** Tools of one server. */
  tools: 1_000,
  /** Characters of the description of a tool; longer ones are cut. */
  descriptionChars: 2_000,
  /** Converting the tools of one page in a thread; one that takes longer is converted tool by tool. */
  convertPageMs: 10 * SECOND,
  convertToolMs: SECOND,
  /** Reading the list of one server from start to end. One list is read at a time: each holds all its tools until they are stored. */
  syncMs: MINUTE,
  /** Lists of one environment, and of all, that wait for their turn. */
  queuedSyncs: 20,
  allQueuedSyncs: 200,
  /** How old a list gets before its server is asked again. */
  listAgeMs: 15 * MINUTE,
  /** Sessions that are kept for the next call, and the time after which one is ended. */
  sessions: 256,
  idleSessionMs: 5 * MINUTE,
} as const;
