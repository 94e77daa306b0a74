/** The exit codes of commands; docs/cli.md lists them. */
export const EXIT = {
  ok: 0,
  /** The command failed, or a check found something wrong. */
  failed: 1,
  /** The command line is wrong: nothing was done. */
  usage: 2,
  /** The server cannot be reached. */
  unreachable: 3,
  /** The server rejected the client, its token or its scopes. */
  notAllowed: 4,
  notFound: 5,
  /** The reader of the output closed it: 128 plus the number of SIGPIPE. */
  closedPipe: 141,
} as const;

const EXPECTED = new Set([
  'UsageError',
  'ConfigError',
  'VaultError',
  'StorageError',
  'ApiFailure',
  'UnreachableError',
  'ProcessError',
]);

/**
 * Whether an error is a mistake of the operator, a refusal of the server, or a file that cannot be accessed. Then only
 * its message is printed, because a stack trace would hide it.
 */
export function isExpected(error: Error): boolean {
  return EXPECTED.has(error.name) || 'syscall' in error;
}

/** Returns the exit code for an expected error: its own `exitCode` if it has one, otherwise `EXIT.failed`. */
export function exitCodeOf(error: Error): number {
  return 'exitCode' in error && typeof error.exitCode === 'number' ? error.exitCode : EXIT.failed;
}
