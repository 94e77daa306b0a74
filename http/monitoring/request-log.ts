import { symbols } from 'pino';
import type { AuthFailure } from '../../core/errors.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Logger } from './log.ts';

/** Writes the log line of a request. @param ms its duration @param authFailure why it was not authenticated */
export type RequestLog = (
  operation: string,
  status: number,
  ms: number,
  requestId: string,
  authFailure?: AuthFailure,
) => void;

/**
 * Builds the line that every request writes, in the logger's format. The logger itself would take three times as long.
 * Besides the time and the fixed fields of the logger, the line contains only the parameters of `RequestLog`.
 *
 * @param now milliseconds UTC
 */
export function createRequestLog(log: Logger, now: () => number): RequestLog {
  const { [symbols.streamSym]: stream } = log as unknown as Record<symbol, { write(line: string): void }>;
  const level = log.levels.values['info'];
  const bindings = JSON.stringify(log.bindings()).slice(1, -1);
  const own = bindings === '' ? '' : `,${bindings}`;
  return (operation, status, ms, requestId, authFailure) => {
    if (!log.isLevelEnabled('info')) return;
    const facts = `"operation":"${operation}","status":${status},"ms":${Math.round(ms * 100) / 100}`;
    const id = JSON.stringify(requestId);
    stream?.write(
      `{"level":${level},"time":"${rfc3339(now())}"${own},${facts},"request_id":${id}${refusal(authFailure)},"msg":"request"}\n`,
    );
  };
}

function refusal(failure: AuthFailure | undefined): string {
  if (failure === undefined) return '';
  const client = failure.clientId === undefined ? '' : `,"client_id":${JSON.stringify(failure.clientId)}`;
  return `,"auth_failure":${JSON.stringify(failure.reason)}${client}`;
}
