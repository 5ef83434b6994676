import XCTest

@testable import Mirror

/// The patch trap: an echo is cut at 4,000 characters, and a cut JSON text decodes as nothing.
final class PatchTests: XCTestCase {
    func testAShortResultDecodesFromItsEcho() throws {
        let patch = try PatchFileResult(echo: echo(of: "patch_file"))
        XCTAssertTrue(patch.ok)
        XCTAssertEqual(patch.diff, Diff(added: 3, removed: 1))
    }

    func testALongResultDoesNotDecodeFromItsEcho() throws {
        let text = try echo(of: "patch_file_long")
        XCTAssertEqual(text.unicodeScalars.count, 4_000)
        XCTAssertThrowsError(try PatchFileResult(echo: text))
    }

    func testTheSameLongResultDecodesWholeWhereThePatchToolIsStructural() throws {
        let line = try Fixture.named("patch_file_long_structural").completed
        let data = try StatusFrame<ToolCompleted<PatchFileResult>>(line: line).payload.data
        guard case let .structure(patch) = data.result else {
            return XCTFail("patch_file is in the setting, so its result is an object")
        }
        XCTAssertTrue(patch.ok)
        XCTAssertEqual(patch.diff, Diff(added: 600, removed: 600))
    }

    func testAUnifiedDiffIsCountedWithoutItsFileHeaders() {
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
        XCTAssertEqual(Diff(unified: text), Diff(added: 2, removed: 1))
    }

    private func echo(of name: String) throws -> String {
        let line = try Fixture.named(name).completed
        let data = try StatusFrame<ToolCompleted<PatchFileResult>>(line: line).payload.data
        guard case let .echo(text) = data.result else {
            throw CocoaError(.coderValueNotFound)
        }
        return text
    }
}
