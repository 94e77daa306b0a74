import type { HttpCall } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';
import { isRecord } from '../tools/pointer.ts';
import { type FlowDocument, type FlowSource, readAccountValues, readsFrom } from './account-values.ts';
import { type CallFailure, type CallOutcome, callProblem, readCallOutcome } from './call-outcome.ts';
import type { ClientCredentials } from './client-auth.ts';
import { sendCall } from './http-call.ts';
import { verifyIdToken } from './id-token.ts';
import { type Identity, identityMethodOf, readIdentity } from './identity.ts';
import { type OAuthProvider, withInputs } from './provider.ts';
import { type FetchFor, type ProtocolFetch, restrictedToTarget } from './transport.ts';

export interface AccountFactsRequest {
  /** Its `inputs` include the known account values: fields that the user entered, and values from the callback. */
  provider: OAuthProvider;
  client: ClientCredentials;
  accessToken: Secret;
  /** The token response as JSON; null for a token that did not come from an authorization flow. */
  answer: Secret | null;
  /** The nonce of the authorization request; null if none was sent. */
  nonce: string | null;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

export type AccountFacts =
  /** `values`: values of the API configuration, such as the address of the account's API. */
  ({ ok: true; values: Record<string, string> } & Identity) | CallFailure | Unidentified;

/**
 * A response of the provider does not have the format that the connector file describes, or its id_token cannot be
 * verified.
 */
type Unidentified = { ok: false; kind: 'unidentified'; message: string };

/**
 * Reads the identity of an account and the values that its API needs: first from the token response and its id_token,
 * then from the lookup and the identity call of the connector file.
 *
 * @returns the identity, whose `subject` is null if the connector file does not declare one, and the values; or why a
 * source could not be read
 */
export async function readAccountFacts(request: AccountFactsRequest): Promise<AccountFacts> {
  const fetch = restrictedToTarget(request.fetchFor);
  try {
    return await new Inquiry(request, fetch).run();
  } catch (error) {
    return callProblem(error);
  }
}

/** Reads the sources of an account's values one after another, because each may need values of an earlier one. */
class Inquiry {
  readonly #request: AccountFactsRequest;
  readonly #fetch: ProtocolFetch;
  readonly #values: Record<string, string> = {};
  #document: FlowDocument;

  constructor(request: AccountFactsRequest, fetch: ProtocolFetch) {
    this.#request = request;
    this.#fetch = fetch;
    this.#document = { account: request.provider.inputs };
  }

  async run(): Promise<AccountFacts> {
    const { config } = this.#request.provider;
    const way = identityMethodOf(config);
    const problem =
      this.#add('token', parsed(this.#request.answer)) ??
      (readsFrom(config, 'id_token') ? await this.#addClaims() : undefined) ??
      (config.lookup ? await this.#call('lookup', config.lookup) : undefined) ??
      (way?.call ? await this.#call('identity', way.call) : undefined);
    if (problem !== undefined) return problem;
    if (way === undefined) return { ok: true, subject: null, identifierCandidates: [], values: this.#values };
    const identity = readIdentity(way, this.#document);
    if (identity === undefined)
      return unidentified("The provider's response does not have the user id that the connector names.");
    return { ok: true, ...identity, values: this.#values };
  }

  #add(source: FlowSource, found: unknown): Unidentified | undefined {
    this.#document = { ...this.#document, [source]: found };
    const rules = this.#request.provider.config.account_values ?? [];
    const read = readAccountValues(rules, [source], this.#document);
    if (!read.ok) return unidentified(read.message);
    Object.assign(this.#values, read.values);
    this.#document = { ...this.#document, account: { ...this.#document.account, ...this.#values } };
    return undefined;
  }

  async #call(source: 'lookup' | 'identity', call: HttpCall): Promise<CallFailure | Unidentified | undefined> {
    const { provider, client, accessToken, now } = this.#request;
    const known = withInputs(provider, this.#values);
    const response = await sendCall(known, call, { token: accessToken, accessToken, client }, this.#fetch);
    const rules = source === 'identity' ? provider.config.identity?.errors : undefined;
    const outcome: CallOutcome = await readCallOutcome(response, rules, now());
    return outcome.ok ? this.#add(source, outcome.body) : outcome;
  }

  async #addClaims(): Promise<Unidentified | undefined> {
    const { provider, client, nonce, now } = this.#request;
    const { token } = this.#document;
    const idToken = isRecord(token) ? token['id_token'] : undefined;
    if (typeof idToken !== 'string') return unidentified('The provider sent no id_token.');
    if (!provider.metadata?.jwks_uri)
      return unidentified('The id_token cannot be verified, because the metadata of the provider has no jwks_uri.');
    const { metadata } = provider;
    const { clientId } = client;
    const checked = await verifyIdToken({ idToken, metadata, clientId, nonce, fetch: this.#fetch, now });
    return checked.ok ? this.#add('id_token', checked.claims) : unidentified(checked.message);
  }
}

function parsed(answer: Secret | null): unknown {
  return answer === null ? undefined : (JSON.parse(answer.reveal()) as unknown);
}

function unidentified(message: string): Unidentified {
  return { ok: false, kind: 'unidentified', message };
}
