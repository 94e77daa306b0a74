/**
 * A cheap call that shows whether a provider accepts a credential; catalogue/connector.schema.json describes each key.
 * The credential counts as rejected if the `errors` of the provider's API definition map the failure to
 * `upstream_auth`, or the status is 401 or in `rejected`.
 */
export interface CredentialCheck {
  method?: 'GET' | 'POST';
  /** Appended to the base URL of the API; it may contain {field} placeholders for values of the account. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** A JSON body, for APIs whose calls are all POST requests. */
  json?: unknown;
  /** Further statuses with which the provider rejects a wrong credential, for example 403. */
  rejected?: readonly number[];
}
