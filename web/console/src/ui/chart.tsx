import { scaleBand, scaleLinear } from '@visx/scale';
import { BarStack } from '@visx/shape';
import { formatMs, formatNumber } from './format.ts';

export interface Bar {
  /** The beginning of the hour. */
  at: string;
  succeeded: number;
  failed: number;
  p50: number | null;
  p99: number | null;
}

const HOUR = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const WIDTH = 720;
const HEIGHT = 140;
/** The gap between two bars, as a share of the distance between their beginnings. */
const GAP = 0.1;
const KEYS = ['succeeded', 'failed'] as const;
const CLASSES = { succeeded: 'good', failed: 'bad' } as const;

/** Calls by hour as stacked bars, with the same numbers in a table for screen readers. */
export function CallsChart({ bars }: { bars: readonly Bar[] }) {
  const highest = Math.max(1, ...bars.map(({ succeeded, failed }) => succeeded + failed));
  const xScale = scaleBand({ domain: bars.map(({ at }) => at), range: [0, WIDTH], padding: GAP });
  const yScale = scaleLinear({ domain: [0, highest], range: [HEIGHT, 0] });
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 2}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={WIDTH} y1={HEIGHT + 1} y2={HEIGHT + 1} className="axis" />
        {bars.map(({ at, succeeded, failed, p50, p99 }) => (
          <rect key={at} x={xScale(at)} y={0} width={xScale.step()} height={HEIGHT} className="hit">
            <title>
              {`${HOUR.format(new Date(at))}: ${formatNumber(succeeded)} succeeded, ${formatNumber(failed)} failed, p50 ${formatMs(p50)}, p99 ${formatMs(p99)}`}
            </title>
          </rect>
        ))}
        <BarStack
          data={[...bars]}
          keys={[...KEYS]}
          x={({ at }) => at}
          xScale={xScale}
          yScale={yScale}
          color={(key) => CLASSES[key]}
        >
          {(stacks) =>
            stacks.flatMap((stack) =>
              stack.bars.map(({ index, x, y, width, height, color }) => (
                <rect key={`${stack.key} ${index}`} x={x} y={y} width={width} height={height} className={color} />
              )),
            )
          }
        </BarStack>
      </svg>
      <figcaption>
        <span>{bars[0] && HOUR.format(new Date(bars[0].at))}</span>
        <span className="key">
          <i className="good" /> succeeded <i className="bad" /> failed
        </span>
        <span>now</span>
      </figcaption>
      <div className="visually-hidden">
        <table>
          <caption>Calls by hour</caption>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              <th scope="col">Succeeded</th>
              <th scope="col">Failed</th>
              <th scope="col">Median duration</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ at, succeeded, failed, p50 }) => (
              <tr key={at}>
                <th scope="row">{HOUR.format(new Date(at))}</th>
                <td>{succeeded}</td>
                <td>{failed}</td>
                <td>{formatMs(p50)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
