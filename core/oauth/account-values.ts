import { accountValueProblem } from '../connectors/account-value.ts';
import type { OAuthConfig } from '../connectors/auth-pattern.ts';
import type { AccountValue } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';

/** The documents of a flow that pointers of a connector file can read. */
export interface FlowDocument {
  /** Parameters of the callback, the first value of each. An attacker can forge them. */
  callback?: Readonly<Record<string, string>>;
  /** The token response. */
  token?: unknown;
  /** Claims whose signature was verified. */
  id_token?: unknown;
  /** The response of `lookup`. */
  lookup?: unknown;
  /** The response of the identity call. */
  identity?: unknown;
  /** Account values that are already known. */
  account?: Readonly<Record<string, string>>;
}

export type FlowSource = keyof FlowDocument;

export type ReadValues = { ok: true; values: Record<string, string> } | { ok: false; message: string };

/** Returns the name of the document that a pointer refers to. */
function sourceOf(pointer: string): FlowSource {
  return pointer.split('/')[1] as FlowSource;
}

/** Whether a configuration reads the identity or an account value from this document. */
export function readsFrom({ identity, account_values: values = [] }: OAuthConfig, source: FlowSource): boolean {
  const ofIdentity = [...(identity?.subject ?? []), ...(identity?.identifiers ?? [])];
  return [...ofIdentity, ...values.map(({ from }) => from)].some((pointer) => sourceOf(pointer) === source);
}

/** Returns the text or number at a pointer as text; undefined if it is missing, empty or over 500 characters long. */
export function textAt(document: FlowDocument, pointer: string): string | undefined {
  const value = atPointer(document, pointer);
  if (typeof value !== 'string' && !Number.isFinite(value)) return undefined;
  const text = String(value);
  return text === '' || text.length > 500 ? undefined : text;
}

/**
 * Reads the account values from the given documents and checks each against its rule. Only values that a connector file
 * declares are read. If the rule of a value lists origins, the value must match one.
 *
 * @returns the values by name; or why a required value is missing or a value is not allowed
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
