import XCTest

@testable import Mirror

final class ReadFileTests: XCTestCase {
    func testTheHeaderIsTheLastComponentOfThePath() throws {
        XCTAssertEqual(try name(of: #"{"path":"lib/a.rb","range":[1,3]}"#), "a.rb")
        XCTAssertEqual(try name(of: #"{"path":"/"}"#), "/")
        XCTAssertEqual(try name(of: #"{"path":"lib/"}"#), "lib")
        XCTAssertEqual(try name(of: #"{"path":"ü 界/😀.txt"}"#), "😀.txt")
    }

    func testTheHeaderIsEmptyWhereThereIsNoPath() throws {
        XCTAssertEqual(try name(of: "{}"), "")
        XCTAssertEqual(try name(of: #"{"path":null}"#), "")
        XCTAssertEqual(try name(of: #"{"path":""}"#), "")
    }

    func testARangeIsTwoLineNumbers() throws {
        XCTAssertEqual(try ReadFileArgs(json: #"{"path":"a","range":[10,20]}"#).range, [10, 20])
        XCTAssertNil(try ReadFileArgs(json: #"{"path":"a"}"#).range)
    }

    func testArgumentsThatAreNoJSONShowNoPathAndBreakNothing() throws {
        var panel = Panel()
        let data = #"{"name":"read_file","args":"{\"path\":"}"#
        let payload = #"{"type":"tool_starting","data":\#(data),"timestamp":"","uuid":""}"#
        let line = #"{"type":"stream","method":"status","payload":\#(payload),"request_id":null}"#
        XCTAssertEqual(try panel.show(line: line), Shown())
    }

    private func name(of json: String) throws -> String {
        try ReadFileArgs(json: json).fileName
    }
}
