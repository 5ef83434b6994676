import XCTest

@testable import Mirror

/// How the mirror grows: one name in RIND_BRIDGE_STRUCTURAL_TOOLS, and the one struct below.
final class GrowthTests: XCTestCase {
    struct FileOverviewResult: Decodable {
        let symbols: [String]
        let lines: Int
    }

    func testANewStructuralToolIsOneDecodableStruct() throws {
        let line = try Fixture.named("file_overview_structural").completed
        let data = try StatusFrame<ToolCompleted<FileOverviewResult>>(line: line).payload.data
        guard case let .structure(overview) = data.result else {
            return XCTFail("the name is in the setting, so the result is an object")
        }
        XCTAssertEqual(overview.symbols, ["Echo", "Echo.text", "Echo.cut"])
        XCTAssertEqual(overview.lines, 120)
    }

    func testUntilThereIsAStructTheFrameDecodesAndShowsNothing() throws {
        var panel = Panel()
        let line = try Fixture.named("file_overview_structural").completed
        XCTAssertEqual(try panel.show(line: line), Shown())
    }

    func testWithoutTheNameInTheSettingItIsAnEcho() throws {
        let line = try Fixture.named("file_overview").completed
        let data = try StatusFrame<ToolCompleted<FileOverviewResult>>(line: line).payload.data
        guard case let .echo(text) = data.result else {
            return XCTFail("the name is not in the setting, so the result is a text")
        }
        XCTAssertTrue(text.hasPrefix(#"{"symbols":["#))
    }
}
