/** Where the client secret of a connection is sealed. */
export function clientSecretPlace(environmentId: string, connectionId: string) {
  return { table: 'connections', environmentId, recordId: connectionId, field: 'client_secret' };
}
