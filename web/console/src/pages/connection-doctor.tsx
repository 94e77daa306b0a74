import { useMutation } from '@tanstack/react-query';
import { api, type Schemas, take } from '../api.ts';
import { columnsOf } from '../ui/grid.tsx';
import { Button, Card, Status, Trouble } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

const LABELS = { OK: 'As expected', DIFFERS: 'Differs', UNKNOWN: 'Not known' } as const;
const TONES = { OK: 'ACTIVE', DIFFERS: 'FAILED', UNKNOWN: 'NEUTRAL' } as const;

const column = columnsOf<Schemas['ConnectionCheck']>();

const COLUMNS = column.columns([
  column.accessor('subject', { header: 'Value', meta: { min: 10, grow: 2 } }),
  column.accessor('verdict', {
    header: 'Verdict',
    cell: ({ getValue }) => <Status value={TONES[getValue()]} label={LABELS[getValue()]} />,
    meta: { min: 8 },
  }),
  column.accessor('expected', { header: 'Expected', meta: { min: 10, grow: 3 } }),
  column.accessor('found', { header: 'Found', meta: { min: 10, grow: 3 } }),
]);

/** Compares a connection with its connector and with what the provider publishes. */
export function Doctor({ connection: { id } }: { connection: Pick<Schemas['Connection'], 'id'> }) {
  const check = useMutation({
    mutationFn: () =>
      take(api.GET('/api/v1/connections/{connection_id}:check', { params: { path: { connection_id: id } } })),
  });
  const checks = check.data?.checks ?? [];
  const wrong = checks.filter(({ verdict }) => verdict === 'DIFFERS').length;
  return (
    <Card
      title="Check the settings"
      actions={
        <Button disabled={check.isPending} onClick={() => check.mutate()}>
          {check.isPending ? 'Checking …' : 'Check now'}
        </Button>
      }
    >
      <p className="muted">
        Compares the connection with its connector, and the addresses of the connector with what the provider publishes.
        No credential is sent.
      </p>
      <Trouble error={check.error} />
      <div role="status" className="stack">
        {check.data && (
          <>
            <p className="advice">
              {wrong === 0
                ? 'Nothing differs from what is expected.'
                : `${wrong} ${wrong === 1 ? 'value differs' : 'values differ'} from what is expected.`}
            </p>
            <Table label="Findings" columns={COLUMNS} rows={check.data.checks} rowKey={({ subject }) => subject} />
          </>
        )}
      </div>
    </Card>
  );
}
