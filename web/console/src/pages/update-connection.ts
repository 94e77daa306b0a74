import { useMutation } from '@tanstack/react-query';
import { api, type Schemas, take } from '../api.ts';

type Changes = Omit<Schemas['UpdateConnectionRequest'], 'client_secret'> & { client_secret?: string };

/** Returns the mutation that changes settings of a connection. */
export function useConnectionUpdate(id: string) {
  return useMutation({
    mutationFn: (body: Changes) =>
      take(api.PUT('/api/v1/connections/{connection_id}', { params: { path: { connection_id: id } }, body })),
  });
}
