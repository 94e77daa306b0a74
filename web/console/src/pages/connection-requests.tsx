import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import type { Schemas } from '../api.ts';
import { may } from '../session.ts';
import { Check } from '../ui/check.tsx';
import { Card, Field } from '../ui/parts.tsx';
import { SaveActions } from '../ui/save-actions.tsx';
import { isMcpProvider, providerQuery } from './provider-query.ts';
import { useConnectionUpdate } from './update-connection.ts';

const MAX_TIMEOUT_S = 300;

/** How the requests of a connection are sent to its provider. */
export function RequestsOfConnection({ connection }: { connection: Schemas['ConnectionConfiguration'] }) {
  const provider = useQuery(providerQuery(connection.provider_key));
  const save = useConnectionUpdate(connection.id);
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
          <Check
            name="send_trace_context"
            label="Send the trace of each call"
            hint={
              <>
                The provider receives the header <code>traceparent</code> while this server exports traces.
              </>
            }
            defaultChecked={connection.send_trace_context}
          />
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
          <SaveActions save={save} kind="plain" />
        </fieldset>
      </form>
    </Card>
  );
}
