import { useMutation } from '@tanstack/react-query';
import { api, type Schemas, take } from '../api.ts';
import { Button, Card, Status, Trouble, WideTable } from '../ui/parts.tsx';

const LABELS = { OK: 'As expected', DIFFERS: 'Differs', UNKNOWN: 'Not known' } as const;
const TONES = { OK: 'ACTIVE', DIFFERS: 'FAILED', UNKNOWN: 'NEUTRAL' } as const;

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
            <WideTable label="Findings" heads={['Value', 'Verdict', 'Expected', 'Found']}>
              {checks.map(({ subject, verdict, expected, found }) => (
                <tr key={subject}>
                  <td>{subject}</td>
                  <td>
                    <Status value={TONES[verdict]} label={LABELS[verdict]} />
                  </td>
                  <td>{expected}</td>
                  <td>{found}</td>
                </tr>
              ))}
            </WideTable>
          </>
        )}
      </div>
    </Card>
  );
}
