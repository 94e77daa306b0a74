import { expect } from 'chai';
import { Registry } from 'prom-client';
import { showEventLoopDelay, showEventLoopUtilization } from '../../http/monitoring/event-loop-delay.ts';
import { createMetrics } from '../../http/monitoring/metrics.ts';

describe('S3: the delay of the event loop', () => {
  it('S3: is reported in seconds for each quantile, without the interval of the measuring timer', async () => {
    const asked: number[] = [];
    let resets = 0;
    const registry = new Registry();
    showEventLoopDelay(registry, {
      percentile(percentile) {
        asked.push(percentile);
        return percentile === 100 ? 1_510_000_000 : 9_000_000;
      },
      reset: () => void resets++,
    });
    const text = await registry.metrics();
    expect(asked).to.deep.equal([50, 90, 99, 100]);
    expect(text).to.match(/^valetkey_event_loop_delay_seconds\{quantile="1"\} 1\.5$/m);
    expect(text).to.match(/^valetkey_event_loop_delay_seconds\{quantile="0.5"\} 0$/m);
    expect(resets).to.equal(1);
    await registry.metrics();
    expect(resets).to.equal(2);
  });

  it('S3: is among the metrics of the server', async () => {
    const text = await createMetrics().registry.metrics();
    expect(text.match(/^valetkey_event_loop_delay_seconds\{/gm)).to.have.length(4);
  });
});

describe('the utilization of the event loop', () => {
  it('is measured since the last scrape', async () => {
    const registry = new Registry();
    let active = 10;
    const measure = ((now?: { active: number }, last?: { active: number }) =>
      now && last
        ? { idle: 0, active: 0, utilization: (now.active - last.active) / 100 }
        : { idle: 0, active, utilization: 0 }) as typeof performance.eventLoopUtilization;
    showEventLoopUtilization(registry, measure);
    for (const [more, share] of [
      [25, '0.25'],
      [90, '0.9'],
      [0, '0'],
    ] as const) {
      active += more;
      expect(await registry.metrics()).to.match(new RegExp(`^valetkey_event_loop_utilization_ratio ${share}$`, 'm'));
    }
  });
});
