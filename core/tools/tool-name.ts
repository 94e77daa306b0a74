const MAX_PREFIX = 32;

/**
 * Returns the prefix of a provider's tool names: its identifier in lower case, with an underscore in place of other
 * characters and at the end. A long identifier is truncated to leave space for the rest of the name.
 *
 * @param identifier a connector's, or a custom provider's such as `acme-crm`
 * @returns for example `acme_crm_`
 */
export function toolPrefix(identifier: string): string {
  const plain = identifier.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const legal = /^[a-z]/.test(plain) ? plain : `x${plain}`;
  return `${legal.slice(0, MAX_PREFIX).replace(/_+$/, '')}_`;
}
