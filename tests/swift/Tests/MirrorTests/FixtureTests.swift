import XCTest

@testable import Mirror

/// A fixture of tests/contract/frames: the frames of one call, and what the panel shows after each.
struct Fixture: Decodable {
    let frames: [String]
    let shown: [Shown]

    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()  // MirrorTests
        .deletingLastPathComponent()  // Tests
        .deletingLastPathComponent()  // swift
        .deletingLastPathComponent()  // tests
        .appendingPathComponent("contract/frames")

    var completed: String {
        frames.last ?? ""
    }

    static func named(_ name: String) throws -> Fixture {
        let file = folder.appendingPathComponent("\(name).json")
        return try JSONDecoder().decode(Fixture.self, from: Data(contentsOf: file))
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }
            .map { String($0.dropLast(".json".count)) }
            .sorted()
    }
}

final class FixtureTests: XCTestCase {
    func testEveryFrameDecodesAndShowsWhatItsFixtureSays() throws {
        let names = try Fixture.names()
        XCTAssertGreaterThan(names.count, 15)
        for name in names {
            let fixture = try Fixture.named(name)
            var panel = Panel()
            let shown = try fixture.frames.map { try panel.show(line: $0) }
            XCTAssertEqual(shown, fixture.shown, name)
        }
    }

    func testALineThatIsNoStatusFrameIsRefused() {
        var panel = Panel()
        for line in ["", "null", "{}", #"{"type":"stream","method":"status"}"#] {
            XCTAssertThrowsError(try panel.show(line: line), line)
        }
    }
}
