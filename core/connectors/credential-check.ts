/**
 * A cheap call that shows whether a provider accepts a credential; catalogue/connector.schema.json describes each key.
 * A failure that the provider's `errors` map to `upstream_auth`, a status in `rejected`, or 401 means that it does not.
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
