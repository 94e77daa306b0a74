import { accountValueProblem } from '../connectors/account-value.ts';
import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { AccountValue } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';

/** What a flow leaves behind, for pointers of a connector file to be read from. */
export interface FlowDocument {
  /** Parameters of the callback, the first value of each. Anyone can forge them. */
  callback?: Readonly<Record<string, string>>;
  /** The token response. */
  token?: unknown;
  /** Claims, after the signature was verified. */
  id_token?: unknown;
  /** The response of `lookup`. */
  lookup?: unknown;
  /** The response of the identity call. */
  identity?: unknown;
  /** Values of the account that are known already. */
  account?: Readonly<Record<string, string>>;
}

export type FlowSource = keyof FlowDocument;

export type ReadValues = { ok: true; values: Record<string, string> } | { ok: false; message: string };

/** The part of what a flow leaves that a pointer leads into. */
function sourceOf(pointer: string): FlowSource {
  return pointer.split('/')[1] as FlowSource;
}

/** Whether anything that a config wants to know of an account comes from this source. */
export function readsFrom({ identity, account_values: values = [] }: OAuthConfig, source: FlowSource): boolean {
  const ofIdentity = [...(identity?.subject ?? []), ...(identity?.identifiers ?? [])];
  return [...ofIdentity, ...values.map(({ from }) => from)].some((pointer) => sourceOf(pointer) === source);
}

/** A text or a number that a pointer leads to; undefined when there is nothing of the kind, or it is empty. */
export function textAt(document: FlowDocument, pointer: string): string | undefined {
  const value = atPointer(document, pointer);
  if (typeof value !== 'string' && !Number.isFinite(value)) return undefined;
  const text = String(value);
  return text === '' || text.length > 500 ? undefined : text;
}

/**
 * Reads the values of the account that some sources bring, each held against its rule: only what a connector file declares is
 * taken, and a value that names a host must name one of the provider's.
 */
export function readAccountValues(
  rules: readonly AccountValue[],
  sources: readonly FlowSource[],
  document: FlowDocument,
): ReadValues {
  const values: Record<string, string> = {};
  for (const rule of rules.filter(({ from }) => sources.includes(sourceOf(from)))) {
    const text = textAt(document, rule.from);
    if (text === undefined) {
      if (rule.optional) continue;
      return { ok: false, message: `The provider did not return the account's ${rule.name}.` };
    }
    const value = rule.origins === undefined ? text : text.replace(/\/$/, '');
    const problem = accountValueProblem(rule, value);
    if (problem !== undefined) return { ok: false, message: `The ${rule.name} that the provider returned ${problem}.` };
    values[rule.name] = value;
  }
  return { ok: true, values };
}
