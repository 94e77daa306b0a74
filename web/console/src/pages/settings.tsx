import { useMutation, useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession, dropToken, may } from '../session.ts';
import { Check } from '../ui/check.tsx';
import { Card, Facts, Field, Loading, Page, Trouble } from '../ui/parts.tsx';
import { SaveActions } from '../ui/save-actions.tsx';
import { ApiClients } from './api-clients.tsx';
import { Brand } from './brand.tsx';
import { LoginProvider } from './login-provider.tsx';
import { Operators } from './operators.tsx';
import { ServerSettings } from './server-settings.tsx';

type Environment = Schemas['Environment'];
type Changes = { [K in keyof Schemas['UpdateEnvironmentRequest']]?: unknown };

const DAY = 'Days';

export function SettingsPage() {
  return (
    <Page title="Settings" lead="The environment, the clients of its API, and its operators.">
      {may('admin') ? (
        <>
          <EnvironmentSettings />
          <ApiClients />
          <Operators />
        </>
      ) : (
        <p className="advice">
          Only operators with the role owner can see and change the settings. Your role is{' '}
          {currentSession()?.role.toLowerCase()}.
        </p>
      )}
    </Page>
  );
}

function EnvironmentSettings() {
  const { data, error } = useQuery({
    queryKey: ['settings', 'environment'],
    queryFn: () => take(api.GET('/api/v1/environment')),
  });
  if (error) return <Trouble error={error} />;
  if (!data) return <Loading />;
  const { environment } = data;
  return (
    <>
      <Card title="Environment">
        <Facts
          rows={[
            ['Id', <code key="id">{environment.id}</code>],
            ['Kind', environment.kind === 'PRODUCTION' ? 'Production' : 'Development'],
            ['Address', environment.base_url],
            ['Hosts', environment.hosts.join(', ')],
          ]}
        />
        <p className="hint">
          The address and further environments are set on the server: see <code>valetkey environments</code>.
        </p>
      </Card>
      <Brand key={`brand ${JSON.stringify(environment)}`} environment={environment} />
      <SettingsForm key={JSON.stringify(environment)} environment={environment} />
      <LoginProvider />
      <ServerSettings kind={environment.kind} />
    </>
  );
}

function SettingsForm({ environment }: { environment: Environment }) {
  const save = useMutation({
    mutationFn: (body: Changes) => take(api.PUT('/api/v1/environment', { body: body as never })),
    // Drops the token, because only the response with the next token says whether the environment now keeps its events.
    onSuccess: dropToken,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const list = (name: string) => String(form.get(name)).split(/\s+/).filter(Boolean);
    const days = (name: string) => (form.get(name) ? Number(form.get(name)) : null);
    save.mutate({
      link_lifetime_seconds: Number(form.get('link_minutes')) * 60,
      user_verify_urls: list('user_verify_urls'),
      execution_retention_days: days('execution_retention_days'),
      audit_retention_days: days('audit_retention_days'),
      keep_execution_contents: form.has('keep_execution_contents'),
      keep_events: form.has('keep_events'),
      mcp_login_url: String(form.get('mcp_login_url')) || null,
      mcp_dynamic_registration: form.has('mcp_dynamic_registration'),
      mcp_trusted_client_hosts: list('mcp_trusted_client_hosts'),
      mcp_redirect_schemes: list('mcp_redirect_schemes'),
    });
  };
  return (
    <Card title="Behavior">
      <form className="stack" onSubmit={submit}>
        <Check
          name="keep_events"
          label="Keep events for 30 days"
          hint="Clients can list and stream them, and this console shows changes sooner."
          defaultChecked={environment.keep_events}
        />
        <Check
          name="keep_execution_contents"
          label="Keep contents of executions"
          hint="Stores the masked request and the response of each call, encrypted."
          defaultChecked={environment.keep_execution_contents}
        />
        <Field
          label="Addresses to which users may return after a link"
          hint="One in each line. The link names one of them."
        >
          {(id) => (
            <textarea
              id={id}
              name="user_verify_urls"
              defaultValue={environment.user_verify_urls.join('\n')}
              spellCheck={false}
            />
          )}
        </Field>
        <Field label="Lifetime of links" hint="In minutes, at most 1,440 (a day).">
          {(id) => (
            <input
              id={id}
              name="link_minutes"
              data-field="link_lifetime_seconds"
              type="number"
              min={1}
              max={1440}
              required
              defaultValue={environment.link_lifetime_seconds / 60}
            />
          )}
        </Field>
        <Field label="Executions are kept for" hint={DAY}>
          {(id) => (
            <input
              id={id}
              name="execution_retention_days"
              type="number"
              min={1}
              defaultValue={environment.execution_retention_days}
            />
          )}
        </Field>
        <Field
          label="Audit entries are kept in the database for"
          hint={`${DAY}. Then they are archived to files. Empty: they stay in the database.`}
        >
          {(id) => (
            <input
              id={id}
              name="audit_retention_days"
              type="number"
              min={1}
              defaultValue={environment.audit_retention_days ?? ''}
            />
          )}
        </Field>
        <Field label="MCP login address" hint="The page of your application to which users of MCP clients are sent.">
          {(id) => <input id={id} name="mcp_login_url" type="url" defaultValue={environment.mcp_login_url ?? ''} />}
        </Field>
        <Check
          name="mcp_dynamic_registration"
          label="MCP clients may register themselves"
          hint="Needed by clients such as ChatGPT that have no published document."
          defaultChecked={environment.mcp_dynamic_registration}
        />
        <Field
          label="Trusted hosts of MCP clients"
          hint="Users are not asked for consent for clients whose document is at one of these hosts. One in each line."
        >
          {(id) => (
            <textarea
              id={id}
              name="mcp_trusted_client_hosts"
              defaultValue={environment.mcp_trusted_client_hosts.join('\n')}
              spellCheck={false}
            />
          )}
        </Field>
        <Field
          label="Private schemes of MCP clients"
          hint="Schemes of their redirect URIs, such as cursor. One in each line."
        >
          {(id) => (
            <textarea
              id={id}
              name="mcp_redirect_schemes"
              defaultValue={environment.mcp_redirect_schemes.join('\n')}
              spellCheck={false}
            />
          )}
        </Field>
        <SaveActions save={save} />
      </form>
    </Card>
  );
}
