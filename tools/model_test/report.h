/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of a test, on a machine with or without an operating system. report_host.c and
 * report_firmware.c implement the output. No heap, no stdio.
 *
 *   Report("found ");
 *   ReportNumber(0.125);
 */
#ifndef KILN_TOOLS_MODEL_TEST_REPORT_H_
#define KILN_TOOLS_MODEL_TEST_REPORT_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a text. */
void Report(const char* text);

/* Writes a number with up to nine significant digits: "3.5", "-1.25e-20", "inf". */
void ReportNumber(double value);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_TOOLS_MODEL_TEST_REPORT_H_ */
