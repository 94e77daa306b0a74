import { useMutation, useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Button, Card, Field, Trouble } from '../ui/parts.tsx';
import { isMcpProvider, providerQuery } from './provider-query.ts';

type Settings = Pick<Schemas['UpdateConnectionRequest'], 'send_trace_context' | 'mcp_timeout_seconds'>;

const MAX_TIMEOUT_S = 300;

/** How the requests of a connection are sent to its provider. */
export function RequestsOfConnection({ connection }: { connection: Schemas['ConnectionConfiguration'] }) {
  const provider = useQuery(providerQuery(connection.provider_key));
  const save = useMutation({
    mutationFn: (body: Settings) =>
      take(
        api.PUT('/api/v1/connections/{connection_id}', { params: { path: { connection_id: connection.id } }, body }),
      ),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const timeout = form.get('mcp_timeout_seconds');
    save.mutate({
      send_trace_context: form.has('send_trace_context'),
      ...(timeout !== null && { mcp_timeout_seconds: timeout === '' ? null : Number(timeout) }),
    });
  };
  return (
    <Card title="Requests to the provider">
      <form className="stack" onSubmit={submit} key={connection.updated_at}>
        <fieldset className="plain-fieldset" disabled={!may('connections:write')}>
          <label className="check">
            <input type="checkbox" name="send_trace_context" defaultChecked={connection.send_trace_context} />
            <span>
              Send the trace of each call{' '}
              <span className="hint below">
                The provider receives the header <code>traceparent</code> while this server exports traces.
              </span>
            </span>
          </label>
          {isMcpProvider(provider.data) && (
            <Field
              label="Seconds to wait for the MCP server"
              hint={`1 to ${MAX_TIMEOUT_S}. Each notification of progress starts the time again. Empty: the default of 60.`}
            >
              {(id) => (
                <input
                  id={id}
                  name="mcp_timeout_seconds"
                  type="number"
                  min={1}
                  max={MAX_TIMEOUT_S}
                  defaultValue={connection.mcp_timeout_seconds}
                />
              )}
            </Field>
          )}
          <Trouble error={save.error} />
          <div className="actions">
            <Button type="submit" disabled={save.isPending}>
              Save
            </Button>
            <span role="status">{save.isSuccess && 'Saved.'}</span>
          </div>
        </fieldset>
      </form>
    </Card>
  );
}
