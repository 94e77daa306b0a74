import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { FailedPage } from '../ui/failed-page.tsx';
import { Filters, useFilters } from '../ui/filters.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Confirm, Copy, Empty, Facts, Json, Loading, Page, Status, Time, Trouble } from '../ui/parts.tsx';
import { EndpointState } from './webhooks.tsx';

const BACK = { to: '/webhooks', label: 'All endpoints' } as const;

type Delivery = Schemas['WebhookDelivery'];

const FILTERS = [{ name: 'state', label: 'State', options: ['PENDING', 'DELIVERED', 'FAILED'] }] as const;

export function WebhookPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['webhooks', 'one', id],
    queryFn: () => take(api.GET('/api/v1/webhook_endpoints/{endpoint_id}', { params: { path: { endpoint_id: id } } })),
  });
  if (isPending) return <Loading />;
  if (error) return <FailedPage title="Webhook endpoint" error={error} back={BACK} />;
  const { webhook_endpoint: endpoint } = data;
  return (
    <Page back={BACK} title={endpoint.url} lead={<code>{endpoint.id}</code>} actions={<Actions endpoint={endpoint} />}>
      <Card title="Facts">
        <Facts
          rows={[
            ['State', <EndpointState key="state" endpoint={endpoint} />],
            ['Reason', endpoint.disabled_reason],
            ['Failing since', <Time key="failing" value={endpoint.failing_since} />],
            ['Events', endpoint.event_types.join(', ') || 'All but executions'],
            ['In order', endpoint.ordered ? 'Yes' : 'No'],
            ['Signature', endpoint.algorithm],
            ['Description', endpoint.description],
            ['Created', <Time key="created" value={endpoint.created_at} />],
          ]}
        />
      </Card>
      <Card title="Deliveries">
        <Filters filters={FILTERS} />
        <Deliveries endpointId={id} />
      </Card>
    </Page>
  );
}

const column = columnsOf<Delivery>();

function columnsFor(actions: { show(delivery: Delivery): void; redeliver(id: string): void }) {
  return column.columns([
    column.accessor('event_type', { header: 'Event', meta: { min: 15, grow: 3 } }),
    column.accessor('state', {
      header: 'State',
      cell: ({ row }) => <DeliveryState delivery={row.original} />,
      meta: { min: 6.5, grow: 1 },
    }),
    column.display({
      header: 'Last attempt',
      cell: ({ row }) => <LastAttempt delivery={row.original} />,
      meta: { min: 12, grow: 3 },
    }),
    column.accessor('attempts', { header: 'Attempts', meta: { min: 4.5 } }),
    column.display({
      header: 'Actions',
      cell: ({ row: { original } }) => (
        <span className="row-actions">
          <Button onClick={() => actions.show(original)}>Details</Button>
          {may('events:write') && <Button onClick={() => actions.redeliver(original.id)}>Redeliver</Button>}
        </span>
      ),
      meta: { min: 11.75 },
    }),
  ]);
}

function Deliveries({ endpointId }: { endpointId: string }) {
  const { state } = useFilters();
  const [shown, setShown] = useState<Delivery>();
  const { mutate: redeliver, error } = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/v1/webhook_deliveries/{delivery_id}:redeliver', { params: { path: { delivery_id: id } } })),
  });
  const columns = useMemo(() => columnsFor({ show: setShown, redeliver }), [redeliver]);
  return (
    <>
      <Trouble error={error} />
      <List
        label="Deliveries"
        queryKey={['deliveries', endpointId, state]}
        load={async (token) => {
          const query = {
            endpoint_id: endpointId,
            page_size: 100,
            ...(state && { state }),
            ...(token && { page_token: token }),
          };
          const page = await take(api.GET('/api/v1/webhook_deliveries', { params: { query: query as never } }));
          return {
            rows: page.webhook_deliveries,
            next: page.next_page_token,
            total: page.total_size,
            isLowerBound: page.total_size_is_lower_bound,
          };
        }}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={state ? 'No delivery matches' : 'Nothing was delivered yet'}>
            Send a test event to try the endpoint.
          </Empty>
        }
      />
      {shown && <DeliveryDetails delivery={shown} />}
    </>
  );
}

/** The state of a delivery. A pending delivery with at least one attempt is being retried. */
function DeliveryState({ delivery: { state, attempts } }: { delivery: Delivery }) {
  if (state !== 'PENDING') return <Status value={state} />;
  return attempts > 0 ? <Status value="UNKNOWN" label="Retrying" /> : <Status value="NEUTRAL" label="Waiting" />;
}

function LastAttempt({ delivery: { last_attempt: attempt, updated_at: at } }: { delivery: Delivery }) {
  if (!attempt) return <span className="muted">None yet</span>;
  return (
    <span title={attempt.error ?? undefined}>
      {attempt.response ? `Response ${attempt.response.status}` : 'No response'}, <Time value={at} />
    </span>
  );
}

function DeliveryDetails({ delivery }: { delivery: Delivery }) {
  return (
    <div className="stack">
      <h3>
        Delivery of <Breakable text={delivery.event_type} /> <code>{delivery.id}</code>
      </h3>
      <Facts
        rows={[
          ['State', <DeliveryState key="state" delivery={delivery} />],
          ['Attempts', delivery.attempts],
          ['Next attempt', <Time key="next" value={delivery.next_attempt_at} />],
          ['Queued', <Time key="queued" value={delivery.created_at} />],
          ['Event', <code key="event">{delivery.event_id}</code>],
          ['Subject', <code key="subject">{delivery.subject_id}</code>],
        ]}
      />
      {delivery.last_attempt && <Json value={delivery.last_attempt} label="Last attempt" />}
    </div>
  );
}

function Actions({ endpoint: { id, enabled } }: { endpoint: Schemas['WebhookEndpoint'] }) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const params = { params: { path: { endpoint_id: id } } };
  const test = useMutation({
    mutationFn: () => take(api.POST('/api/v1/webhook_endpoints/{endpoint_id}:test', params)),
  });
  const rotate = useMutation({
    mutationFn: () => take(api.POST('/api/v1/webhook_endpoints/{endpoint_id}:rotate_secret', { ...params, body: {} })),
  });
  const toggle = useMutation({
    mutationFn: () =>
      take(
        enabled
          ? api.POST('/api/v1/webhook_endpoints/{endpoint_id}:disable', params)
          : api.POST('/api/v1/webhook_endpoints/{endpoint_id}:enable', params),
      ),
  });
  const remove = useMutation({
    mutationFn: () => take(api.DELETE('/api/v1/webhook_endpoints/{endpoint_id}', params)),
    onSuccess: () => void navigate({ to: '/webhooks' }),
  });
  if (!may('events:write')) return null;
  return (
    <>
      <Button kind="primary" disabled={!enabled || test.isPending} onClick={() => test.mutate()}>
        Send a test event
      </Button>
      <Button onClick={() => rotate.mutate()}>Rotate the secret</Button>
      <Button onClick={() => toggle.mutate()}>{enabled ? 'Disable' : 'Enable'}</Button>
      <Button kind="danger" onClick={() => setConfirming(true)}>
        Delete …
      </Button>
      <Trouble error={test.error ?? rotate.error ?? toggle.error ?? remove.error} />
      {rotate.data && (
        <div role="status">
          <p>The new signing secret, shown once:</p>
          <Copy text={rotate.data.secret} label="the signing secret" />
        </div>
      )}
      {isConfirming && (
        <Confirm
          title="Delete this endpoint?"
          action="Delete"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            remove.mutate();
          }}
        >
          <p>Events are no longer delivered to it. Waiting deliveries end.</p>
        </Confirm>
      )}
    </>
  );
}
