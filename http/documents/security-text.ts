export interface SecurityContact {
  /** Where vulnerabilities of this server are reported: `mailto:`, `https:` or `tel:` addresses. */
  readonly securityContacts: readonly string[];
  /** The https URL of the policy for vulnerability reports; null for none. */
  readonly securityPolicy: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The document must expire within a year (RFC 9116 §2.5.5). */
const VALID_DAYS = 180;

/**
 * Writes `security.txt` (RFC 9116): how to report a vulnerability of this server to its operator.
 *
 * @param now milliseconds UTC
 * @returns undefined if the operator has set no contact
 */
export function securityText(
  { securityContacts, securityPolicy }: SecurityContact,
  baseUrl: string,
  now: number,
): string | undefined {
  if (securityContacts.length === 0) return undefined;
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const expires = new Date(today + VALID_DAYS * DAY_MS).toISOString().replace('.000', '');
  const lines = [
    ...securityContacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    ...(securityPolicy ? [`Policy: ${securityPolicy}`] : []),
    `Canonical: ${baseUrl}/.well-known/security.txt`,
  ];
  return `${lines.join('\n')}\n`;
}

/** @throws Error naming the setting */
export function parseContacts(text: string): string[] {
  const contacts = text.split(',').map((contact) => contact.trim());
  const given = contacts.filter((contact) => contact !== '');
  if (given.every((contact) => /^(mailto:|https:\/\/|tel:)[!-~]+$/.test(contact))) return given;
  throw new Error('VALETKEY_SECURITY_CONTACT must be mailto:, https: or tel: addresses, separated by commas');
}

/** @throws Error naming the setting */
export function parsePolicy(text: string): string | null {
  if (text === '') return null;
  if (!/^https:\/\/[!-~]+$/.test(text)) throw new Error('VALETKEY_SECURITY_POLICY must be an https URL');
  return text;
}
