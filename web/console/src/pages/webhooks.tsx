import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Copy, Empty, Field, Page, Status, Trouble } from '../ui/parts.tsx';

type Endpoint = Schemas['WebhookEndpoint'];

const column = columnsOf<Endpoint>();

const COLUMNS = column.columns([
  column.accessor('url', {
    header: 'Address',
    cell: ({ getValue, row }) => (
      <Link to="/webhooks/$id" params={{ id: row.original.id }}>
        <Breakable text={getValue()} />
      </Link>
    ),
    meta: { min: 16, grow: 4 },
  }),
  column.accessor('enabled', {
    header: 'State',
    cell: ({ row }) => <EndpointState endpoint={row.original} />,
    meta: { min: 8, grow: 1 },
  }),
  column.accessor((row) => row.event_types.join(', ') || 'All but executions', {
    header: 'Events',
    meta: { min: 8, grow: 2 },
  }),
  column.accessor((row) => row.description, {
    id: 'description',
    header: 'Description',
    meta: { min: 8, grow: 2, isOptional: true },
  }),
]);

export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  if (!endpoint.enabled) return <Status value="DISABLED" />;
  return endpoint.failing_since ? <Status value="EXPIRED" label="Failing" /> : <Status value="ENABLED" />;
}

export function WebhooksPage() {
  return (
    <Page title="Webhooks" lead="Addresses of your application to which events are delivered, signed.">
      <List
        label="Webhook endpoints"
        queryKey={['webhooks', 'endpoints']}
        load={async (token) => {
          const query = { page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/webhook_endpoints', { params: { query } }));
          return { rows: page.webhook_endpoints, next: page.next_page_token, total: page.total_size };
        }}
        columns={COLUMNS}
        wraps
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/webhooks/${id}`}
        empty={
          <Empty title="No endpoint yet">
            Your application learns here when an account expires or a link is finished. To try it on your machine:{' '}
            <code>valetkey webhooks listen</code>.
          </Empty>
        }
      />
      {may('events:write') && <NewEndpoint />}
    </Page>
  );
}

function NewEndpoint() {
  const create = useMutation({
    mutationFn: (body: { url: string; description: string; event_types: never[] }) =>
      take(api.POST('/api/v1/webhook_endpoints', { body })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const types = String(form.get('event_types'))
      .split(/[\s,]+/)
      .filter(Boolean) as never[];
    create.mutate({ url: String(form.get('url')), description: String(form.get('description')), event_types: types });
  };
  return (
    <Card title="New endpoint">
      <form className="stack" onSubmit={submit}>
        <Field label="Address">
          {(id) => (
            <input
              id={id}
              name="url"
              type="url"
              required
              maxLength={2048}
              placeholder="https://app.example.com/hooks"
            />
          )}
        </Field>
        <Field label="Description">{(id) => <input id={id} name="description" maxLength={200} />}</Field>
        <Field label="Events" hint="Names separated by spaces. Empty: all events but those of executions.">
          {(id) => <input id={id} name="event_types" placeholder="connected_account.expired link.completed" />}
        </Field>
        <Trouble error={create.error} />
        <div className="actions">
          <Button type="submit" kind="primary" disabled={create.isPending}>
            Add the endpoint
          </Button>
        </div>
      </form>
      {create.data && (
        <div className="stack" role="status">
          <p>The endpoint was added. Verify deliveries with this signing secret; it is shown once:</p>
          <Copy text={create.data.secret} label="the signing secret" block />
        </div>
      )}
    </Card>
  );
}
