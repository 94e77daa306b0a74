const MAX_PREFIX = 32;

/**
 * Returns the prefix of a provider's tool names: its identifier in lower case, with an underscore at the end and in
 * place of characters other than ASCII letters and digits. If it does not begin with a letter, `x` is added in front. A
 * long identifier is truncated to leave space for the rest of the name.
 *
 * @param identifier a connector's, or a custom provider's such as `acme-crm`
 * @returns for example `acme_crm_`
 */
export function toolPrefix(identifier: string): string {
  const plain = identifier.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const legal = /^[a-z]/.test(plain) ? plain : `x${plain}`;
  return `${legal.slice(0, MAX_PREFIX).replace(/_+$/, '')}_`;
}
