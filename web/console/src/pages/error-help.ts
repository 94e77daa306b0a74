import type { Schemas } from '../api.ts';
import { words } from '../ui/format.ts';

/** Advice for each kind of failure. */
export const ERROR_HELP: Record<Schemas['ToolErrorKind'], string> = {
  upstream_bad_request: 'The provider rejected the input. Compare the input with the schema of the tool.',
  upstream_auth: 'The provider rejected the credentials. Link the account again.',
  upstream_forbidden: 'The credentials do not permit this call. The account may need more scopes: link it again.',
  upstream_not_found: 'The provider did not find the resource. Check the ids in the input.',
  upstream_conflict: 'The call conflicts with the state of the resource. Read it again, then retry.',
  upstream_rate_limited: 'The rate limit of the provider was exceeded. Retry later, or call less often.',
  upstream_server_error: 'The provider returned a server error. Retry later.',
  upstream_unreachable: 'The connection to the provider failed. Check its status and the network of the server.',
  upstream_timeout: 'The provider did not respond in time. The call may have had an effect: check before you retry.',
  upstream_invalid_response: 'The response of the provider cannot be read or is too large.',
  blocked_by_egress_policy:
    'This server may not call the address. See the allowed addresses of the connection, and those of the server in Settings.',
  service_busy: 'The server had too much work of this kind. Retry soon.',
};

const NAMES: Record<Schemas['ToolErrorKind'], string> = {
  upstream_bad_request: 'Input rejected',
  upstream_auth: 'Credentials rejected',
  upstream_forbidden: 'Not permitted',
  upstream_not_found: 'Not found',
  upstream_conflict: 'Conflict',
  upstream_rate_limited: 'Rate limited',
  upstream_server_error: 'Provider failed',
  upstream_unreachable: 'Provider unreachable',
  upstream_timeout: 'Timed out',
  upstream_invalid_response: 'Unreadable response',
  blocked_by_egress_policy: 'Address not allowed',
  service_busy: 'Server busy',
};

/** Returns the name of a kind of failure for display. */
export function failureName(kind: string): string {
  return (NAMES as Record<string, string>)[kind] ?? words(kind);
}

/** The kinds by which executions can be filtered, with their names. */
export const ERROR_KINDS: Readonly<Record<string, string>> = NAMES;
