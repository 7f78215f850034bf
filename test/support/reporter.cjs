// Mocha's spec reporter, which also writes the counts, and which tests failed, to the file named by MOCHA_REPORT.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    runner.on('fail', (test, error) => failures.push(`${test.fullTitle()}: ${error.message}`));
    runner.once('end', () => {
      const { passes, failures: failed, pending } = this.stats;
      if (process.env.MOCHA_REPORT) {
        const report = { passed: passes, failed, skipped: pending, failures };
        writeFileSync(process.env.MOCHA_REPORT, JSON.stringify(report));
      }
    });
  }
};
