import { expect } from 'chai';
import type { LeftOut, Note } from '../../../core/openapi-conversion/report.ts';
import { summarizeReport } from '../../../core/openapi-conversion/report-summary.ts';

const LONG = 'x'.repeat(100_000);
const MANY = 100_000;

describe('L6: the report of an import', () => {
  it('is of bounded size, and counts every entry', () => {
    const left_out = Array.from({ length: MANY }, (_, index): LeftOut => {
      return { source_id: `GET /${index}${LONG}`, operation_id: LONG, reason: 'DEPRECATED', detail: LONG };
    });
    const notes = left_out.map(({ reason: _reason, detail: _detail, ...ref }): Note => {
      return { ...ref, kind: 'LARGE', detail: LONG };
    });
    const credentials = Array.from({ length: MANY }, () => ({ scheme: LONG, detail: LONG }));
    const warnings = Array.from({ length: MANY }, () => LONG);
    const summary = summarizeReport({ operations: MANY, imported: 0, left_out, notes, credentials, warnings });
    expect(JSON.stringify(summary).length).to.be.below(1_500_000);
    expect(summary.left_out_counts).to.deep.equal({ DEPRECATED: MANY });
    expect(summary.note_counts).to.deep.equal({ LARGE: MANY });
    expect(summary.left_out).to.have.length(500);
    expect(summary.left_out[7]?.source_id).to.match(/^GET \/7x{293}…$/);
    expect(summary.warnings.at(-1)).to.equal('99900 more warnings are not shown.');
  });

  it('does not change when it is short', () => {
    const report = {
      operations: 2,
      imported: 1,
      left_out: [{ source_id: 'GET /a', operation_id: 'a', reason: 'PATH' as const, detail: 'has a fragment' }],
      notes: [{ source_id: 'GET /b', kind: 'LARGE' as const, detail: '9 KB' }],
      credentials: [
        { scheme: 'key', type: 'API_KEY', detail: 'Sent in the header X.' },
        { scheme: 'b', detail: 'No.' },
      ],
      warnings: ['A warning.'],
    };
    expect(summarizeReport(report)).to.deep.equal({
      ...report,
      left_out_counts: { PATH: 1 },
      note_counts: { LARGE: 1 },
    });
  });
});
